/** The words of the first frame, which stand in index.html too: test/ui/shell/first-paint.long.test.ts. */
export const homeDescription =
  'Replies are stored before they are shown, resumed from any token, stopped from anywhere.'
export const openingWords = 'Close the window mid-reply and come back: the reply goes on without you.'
