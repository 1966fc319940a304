/**
 * Pages in a real Chromium (Debian's), against the real server.
 *
 *     const browser = await openBrowser()                  // the run's
 *     afterAll(browser.close)
 *     await using page = await browser.page(app.url)       // a profile of its own
 *     await page.goto('/prompts')
 *
 * A page that logs an error, breaks its Content-Security-Policy, throws, or asks for a file that is not there fails its
 * test when it is disposed of.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { browserOptions } from '../support/browser-options.ts'
import { askSetUp } from '../support/database.ts'
import { WAIT_MS } from '../support/wait.ts'

const axeScript = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface PageOptions {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** Console errors that the test itself brings about. */
  allow?: RegExp
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

const testBrowser = (browser: Browser): TestBrowser => ({
  page: (url, options) => newPage(browser, url, options),
  close: () => browser.close(),
})

/** What has the keyboard's focus: its id, or its words. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.id || document.activeElement.textContent')

// Chromium's own line for an API's refusal, and for a server that a test has stopped.
const refusals = /^Failed to load resource: (?:the server responded with a status of|net::ERR_)/

async function newPage(browser: Browser, baseURL: string, options: PageOptions = {}): Promise<TestPage> {
  const { width = 1440, height = 900, scheme = 'light', allow } = options
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(WAIT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  const add = (text: string) => {
    if (!refusals.test(text) && !allow?.test(text)) problems.push(text)
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
  return Object.assign(page, {
    problems,
    async [Symbol.asyncDispose]() {
      await context.close()
      if (problems.length > 0) throw new Error(`The page complained:\n${problems.join('\n')}`)
    },
  })
}

/** What axe-core finds wrong, one line a rule, in light and in dark; `[]` when nothing. Leaves the page dark. */
export async function axe(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor({ state: 'attached' })
    if (!(await page.evaluate<boolean>('"axe" in window'))) {
      // By the debugger's door: the page's own policy stays as it is.
      await page.evaluate(await axeScript)
    }
    const { violations } = await page.evaluate<AxeResults>('axe.run(document, {resultTypes: ["violations"]})')
    for (const { id, nodes } of violations) {
      const where = nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`)
      found.push(`${scheme} ${id}: ${where.join(' | ')}`)
    }
  }
  return found
}

/** Widths, of 390 and 1440 pixels, at which the page can be scrolled sideways; `[]` when at none. */
export async function sidewaysScroll(page: Page): Promise<number[]> {
  const height = page.viewportSize()?.height ?? 900
  const scrolls: number[] = []
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height })
    await page.evaluate('new Promise((laidOut) => requestAnimationFrame(() => requestAnimationFrame(laidOut)))')
    if (await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')) scrolls.push(width)
  }
  return scrolls
}
