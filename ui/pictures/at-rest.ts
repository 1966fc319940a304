/**
 * When a page shows what it has read: its requests are answered, nothing in it stands for words to come, and its
 * letters are there.
 */
import type { Page, Request } from 'playwright-core'

/** A page that is not at rest after this is in trouble, or follows something that never ends. */
const LIMIT_MS = 30_000

/** Places of words to come: the frame before the scripts, and those that a part of a page shows while it is read. */
const marks =
  '#root:empty, .first, [aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root, [role=status][aria-label=Loading]'

/** Frames without a new element: parts of a page are loaded one after the other, in turns of the browser. */
const QUIET_FRAMES = 30

// By the debugger's door: the pages' policy forbids Playwright's own way to wait, which compiles a string within the page.
const whole = `document.fonts.ready.then(() => new Promise((done) => {
  let quiet = 0
  let before = 0
  const look = () => {
    const count = document.querySelectorAll('*').length
    quiet = count === before && document.querySelector('${marks}') === null ? quiet + 1 : 0
    before = count
    if (quiet >= ${QUIET_FRAMES}) done()
    else requestAnimationFrame(look)
  }
  look()
}))`

/** Streams are read for as long as the page is open: they count until they have begun. */
const isStream = (type: string | undefined): boolean => /event-stream|ndjson/.test(type ?? '')

/**
 * Follows the page's requests from now on. Resolves to a wait that ends when the page is at rest, and that says what it still
 * waited for where that took too long.
 */
export function followRest(page: Page): () => Promise<string | null> {
  const open = new Set<Request>()
  let wake = () => {}
  const close = (request: Request) => {
    open.delete(request)
    wake()
  }
  page.on('request', (request) => open.add(request))
  page.on('requestfinished', close)
  page.on('requestfailed', close)
  page.on('response', (response) => {
    if (isStream(response.headers()['content-type'])) close(response.request())
  })
  const answered = async () => {
    while (open.size > 0) await new Promise<void>((resolve) => (wake = resolve))
  }
  const atRest = async () => {
    do {
      await answered()
      await page.evaluate(whole)
    } while (open.size > 0)
    return null
  }
  return async () => {
    const limit = AbortSignal.timeout(LIMIT_MS)
    const late = new Promise<string>((resolve) =>
      limit.addEventListener('abort', () =>
        resolve([...open].map((request) => request.url()).join(', ') || 'what is being loaded'),
      ),
    )
    return await Promise.race([atRest().catch(String), late])
  }
}
