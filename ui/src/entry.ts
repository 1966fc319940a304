/**
 * The script of index.html, as it is built: it starts the pages once the frame has been painted. Started at once, the
 * evaluation of their files would delay the browser's first picture by most of a second on a phone.
 */

/** Longest wait for the first frame. Some windows never have one. */
const AT_MOST_MS = 2_000

const frame = (): Promise<number> => new Promise(requestAnimationFrame)

/** Waits for the frame after the next one: the browser may have painted a part of this one while it read the rest. */
async function painted(): Promise<void> {
  const first = Promise.withResolvers<void>()
  const observer = new PerformanceObserver((seen) => {
    if (seen.getEntriesByName('first-contentful-paint').length > 0) first.resolve()
  })
  observer.observe({ type: 'paint', buffered: true })
  await Promise.all([first.promise, frame().then(frame)])
}

const late = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, document.visibilityState === 'hidden' ? 0 : AT_MOST_MS))

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** Files that are asked for between two turns of the browser: about forty at once are a long task on a phone. */
const ASKED_AT_ONCE = 8

/**
 * The libraries' files and then main.tsx, in the order in which the build has marked them (preloads.ts): evaluated one after the
 * other, with turns of the browser between them. All at once they are the longest task of a visit.
 */
const files = document.querySelectorAll<HTMLLinkElement>('link[data-begins]')

async function begin(): Promise<void> {
  await Promise.race([painted(), late()])
  // All that the page needs is fetched now, and not sooner: it would take its share of the line from the styles and the font.
  for (const [index, link] of document.querySelectorAll<HTMLLinkElement>('link[data-rel]').entries()) {
    link.rel = link.dataset.rel ?? ''
    if ((index + 1) % ASKED_AT_ONCE === 0) await turn()
  }
  for (const { href } of files) {
    await import(/* @vite-ignore */ href)
    await turn()
  }
}

void begin()

export {}
