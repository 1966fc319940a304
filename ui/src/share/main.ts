/** The script of share.html: a page of its own, which shares files with the others but none of what they start with. */
void import('./shared-page.tsx')

export {}
