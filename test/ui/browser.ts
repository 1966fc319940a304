/**
 * Pages in a real Chromium (Debian's), against the real server.
 *
 *     const browser = await openBrowser()                  // the run's
 *     afterAll(browser.close)
 *     await using page = await browser.page(app.url)       // a profile of its own: no cookies, nothing stored
 *     await page.goto('/prompts')
 *
 * A profile that a test has left is emptied and used again: its renderer and its HTTP cache are warm, which saves two
 * thirds of the processor time of a page. `fresh` asks for a new one, where the network's traffic is what is tested.
 *
 * A page that logs an error, breaks its Content-Security-Policy, throws, or asks for a file that is not there fails its
 * test when it is disposed of.
 */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { askSetUp } from '../support/database.ts'
import { browserOptions } from '../support/programs/browser-options.ts'
import { WAIT_MS } from '../support/wait.ts'

const axeScript = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface PageOptions {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** Console errors that the test itself brings about. */
  allow?: RegExp
  /** An unused profile: an empty HTTP cache, and no use for others afterwards. */
  fresh?: boolean
}

export type TestPage = Page & AsyncDisposable & { problems: string[] }

export interface TestBrowser {
  page(url: string, options?: PageOptions): Promise<TestPage>
  close(): Promise<void>
}

/** The one Chromium of the whole run; its pages are this file's alone, and `close` leaves it to the others. */
export async function openBrowser(): Promise<TestBrowser> {
  const endpoint = await askSetUp('browser')
  if (!endpoint.startsWith('ws://')) throw new Error(endpoint)
  return testBrowser(await chromium.connect(endpoint))
}

/** A Chromium of one's own, outside of the test run. */
export async function launchBrowser(): Promise<TestBrowser> {
  return testBrowser(await chromium.launch(browserOptions()))
}

const testBrowser = (browser: Browser): TestBrowser => {
  const left: Left[] = []
  return {
    page: (url, options) => openPage(browser, left, url, options),
    close: () => browser.close(),
  }
}

/** A profile with one blank page, for the next test. */
interface Left {
  baseURL: string
  page: Page
}

/** Words that no other test, and no other try of this one, has given to a record, a session or a message. */
export const unique = (words: string): string => `${words}-${randomUUID().slice(0, 8)}`

/** Resolves to the id of the element that has the focus, or to its words. Empty when the page itself has it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(({ activeElement: at, body }) => (at === body ? '' : at.id || at.textContent))(document)`)

// Chromium's own lines for an API's refusal, for a server that a test has stopped, and for a machine that takes three seconds
// from a page's styles to its scripts.
const ownLines =
  /^Failed to load resource: (?:the server responded with a status of|net::ERR_)|was preloaded using link preload but not used within a few seconds/

async function openPage(
  browser: Browser,
  left: Left[],
  baseURL: string,
  { width = 1440, height = 900, scheme = 'light', allow, fresh = false }: PageOptions = {},
): Promise<TestPage> {
  const last = fresh ? -1 : left.findLastIndex((one) => one.baseURL === baseURL)
  const page = left.splice(last, last < 0 ? 0 : 1)[0]?.page ?? (await newPage(browser, baseURL, fresh))
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
  const problems = watchProblems(page, allow)
  return Object.assign(page, {
    problems,
    async [Symbol.asyncDispose]() {
      for (const event of ['console', 'pageerror', 'request', 'requestfinished', 'response']) {
        page.removeAllListeners(event)
      }
      const emptied = !fresh && (await empty(page))
      if (emptied) left.push({ baseURL, page })
      else await page.context().close()
      if (problems.length > 0) throw new Error(`The page complained:\n${problems.join('\n')}`)
    },
  })
}

async function newPage(browser: Browser, baseURL: string, fresh: boolean): Promise<Page> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce' })
  // What a page does once it rests is to fetch all other pages ahead: after each load, for a test that opens one or two.
  if (!fresh) await context.addInitScript('globalThis.requestIdleCallback = () => 0')
  context.setDefaultTimeout(WAIT_MS)
  return context.newPage()
}

function watchProblems(page: Page, allow?: RegExp): string[] {
  const problems: string[] = []
  const add = (text: string) => {
    if (!ownLines.test(text) && !allow?.test(text)) problems.push(text)
  }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') add(message.text())
  })
  page.on('pageerror', (error) => add(String(error)))
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const isFile = !pathname.startsWith('/api/') && !/^\/(?:livez|readyz)$/.test(pathname)
    if (isFile && response.status() >= 400) add(`${response.status()} ${pathname}`)
  })
  return problems
}

/** Leaves the page, and removes what its profile holds. False if that failed: such a profile is not used again. */
async function empty(page: Page): Promise<boolean> {
  try {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.evaluate('localStorage.clear(), sessionStorage.clear()')
    await page.goto('about:blank')
    await page.mouse.move(0, 0)
    await page.context().clearCookies()
    return page.context().pages().length === 1
  } catch {
    return false
  }
}

/**
 * What axe-core finds wrong, one line a rule, in light and in dark; `[]` when nothing. Beginning with the scheme that the
 * page has, and leaving it with the other, in which only the rules of colour can find more.
 */
export async function axe(page: Page): Promise<string[]> {
  const isDark = (await page.locator('html').getAttribute('data-mantine-color-scheme')) === 'dark'
  const [scheme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    // By the debugger's door: the page's own policy stays as it is.
    await page.evaluate(await axeScript)
  }
  const found = await settled(() => findings(page, scheme, ''))
  await page.emulateMedia({ colorScheme: other })
  await page.locator(`html[data-mantine-color-scheme=${other}]`).waitFor({ state: 'attached' })
  const ofColour = 'runOnly: ["color-contrast", "link-in-text-block"]'
  return [...found, ...(await settled(() => findings(page, other, ofColour)))]
}

/** Looks again while something is found that may be on its way out: what a reader meets is the page at rest. */
async function settled<T>(look: () => Promise<T[]>): Promise<T[]> {
  const end = Date.now() + WAIT_MS / 4
  let found = await look()
  while (found.length > 0 && Date.now() < end) found = await look()
  return found
}

async function findings(page: Page, scheme: string, option: string): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, {resultTypes: ["violations"], ${option}})`)
  return violations.map(({ id, nodes }) => {
    const where = nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`)
    return `${scheme} ${id}: ${where.join(' | ')}`
  })
}

/** Resolves once the page has been laid out and drawn anew. */
export const laidOut = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((laidOut) => requestAnimationFrame(() => requestAnimationFrame(laidOut)))')

/** Widths, of 390 and 1440 pixels, at which the page can be scrolled sideways; `[]` when at none. */
export async function sidewaysScroll(page: Page): Promise<number[]> {
  const height = page.viewportSize()?.height ?? 900
  const scrolls: number[] = []
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height })
    const look = async () => {
      await laidOut(page)
      return (await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')) ? [width] : []
    }
    scrolls.push(...(await settled(look)))
  }
  return scrolls
}
