/**
 * What index.html runs, as it is built: begins the pages once the frame has been painted. Begun at once, evaluating their files
 * would keep the browser from its first picture for as long as that takes, on a phone most of a second.
 */

/** Longest wait for the first frame. Some windows never have one. */
const AT_MOST_MS = 250

const painted = new Promise<void>((resolve) => {
  if (document.visibilityState === 'hidden') return resolve()
  const observer = new PerformanceObserver((seen) => {
    if (seen.getEntriesByName('first-contentful-paint').length > 0) resolve()
  })
  observer.observe({ type: 'paint', buffered: true })
  setTimeout(resolve, AT_MOST_MS)
})

/**
 * The libraries' files and then main.tsx, in the order in which the build has marked them (preloads.ts): evaluated one after the
 * other, with turns of the browser between them. All at once they are the longest task of a visit.
 */
const files = document.querySelectorAll<HTMLLinkElement>('link[data-begins]')

async function begin(): Promise<void> {
  await painted
  for (const { href } of files) {
    await import(/* @vite-ignore */ href)
    await new Promise((resolve) => setTimeout(resolve))
  }
}

void begin()

export {}
