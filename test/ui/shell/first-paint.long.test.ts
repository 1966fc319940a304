/** What is seen before any script has been read, and that nothing moves when the scripts come. */
import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { homeDescription, openingWords } from '../../../ui/src/shell/first/first-words.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { openBrowser, sidewaysScroll } from '../browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const boxOf = (selector: string) =>
  `JSON.stringify((({ x, y, width, height }) => [x, y, width, height])(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect()))`
const backOf = (selector: string) =>
  `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`

for (const [width, part] of [
  [1440, '.frame-side'],
  [390, '.frame-bar'],
] as const) {
  for (const scheme of ['light', 'dark'] as const) {
    test(`at ${width}, ${scheme}: the frame is there without a script, as it is with them`, async () => {
      const look = async (withScripts: boolean, expected?: string[]) => {
        await using page = await browser.page(app.url, { width, scheme, fresh: true, allow: /Failed to/ })
        if (!withScripts) await page.route(/\/assets\/[^/]+\.js$/, (route) => route.abort())
        await page.goto('/prompts')
        await page.locator(part).getByText('Greenroom').waitFor()
        if (withScripts) await page.getByRole('heading', { level: 1, name: 'Prompts' }).waitFor()
        await page.evaluate('document.fonts.ready.then(() => null)')
        expect(await sidewaysScroll(page)).toEqual([])
        const looks = [boxOf(part), boxOf(`${part} .brand img`), backOf(part), backOf('body')]
        const seen = () => Promise.all(looks.map((one) => page.evaluate<string>(one)))
        if (expected !== undefined) await expect.poll(seen).toEqual(expected)
        return await seen()
      }
      await look(true, await look(false))
    })
  }
}

test('the first frame has the words that the pages have', async () => {
  const html = await readFile(new URL('../../../ui/index.html', import.meta.url), 'utf8')
  expect([...html.matchAll(/<p>(.*)<\/p>/g)].map(([, words]) => words)).toEqual([homeDescription, openingWords])
})

test('Home and the playground show their first words without a script, other pages none of them', async () => {
  for (const width of [1440, 390]) {
    await using page = await browser.page(app.url, { width, fresh: true, allow: /Failed to/ })
    await page.route(/\/assets\/[^/]+\.js$/, (route) => route.abort())
    for (const [path, words] of [
      ['/', homeDescription],
      ['/playground', openingWords],
      ['/prompts', null],
    ] as const) {
      await page.goto(path)
      const shown = [page.getByText(homeDescription), page.getByText(openingWords)]
      if (words !== null) await page.getByText(words).waitFor()
      const visible = await Promise.all(shown.map((one) => one.isVisible()))
      expect([path, visible]).toEqual([path, [words === homeDescription, words === openingWords]])
      expect(await sidewaysScroll(page)).toEqual([])
    }
  }
})

test('the first words of Home stay where they are', async () => {
  for (const width of [1440, 412]) {
    const place = async (expected?: object) => {
      await using page = await browser.page(app.url, { width, fresh: true, allow: /Failed to/ })
      if (expected === undefined) await page.route(/\/assets\/[^/]+\.js$/, (route) => route.abort())
      await page.goto('/')
      if (expected !== undefined) await page.getByRole('heading', { level: 1 }).waitFor()
      const words = page.getByText(homeDescription).filter({ visible: true })
      await words.waitFor()
      await page.evaluate('document.fonts.ready.then(() => null)')
      const seen = async () => {
        const { x = 0, y = 0, height = 0 } = (await words.boundingBox()) ?? {}
        return { x, y, height }
      }
      if (expected !== undefined) await expect.poll(seen, { message: String(width) }).toEqual(expected)
      return await seen()
    }
    await place(await place())
  }
})

test('a conversation stands below a head as high as the one to come', async () => {
  const { agentId } = await createAgent(app)
  for (const width of [1440, 412]) {
    const heightOf = async (selector: string, expected?: number) => {
      await using page = await browser.page(app.url, { width, fresh: true, allow: /Failed to/ })
      if (expected === undefined) await page.route(/\/assets\/[^/]+\.js$/, (route) => route.abort())
      await page.goto(`/playground/${agentId}`)
      if (expected !== undefined) await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      await page.evaluate('document.fonts.ready.then(() => null)')
      const height = async () => Math.round((await page.locator(selector).boundingBox())?.height ?? 0)
      if (expected !== undefined) await expect.poll(height, { message: String(width) }).toBe(expected)
      return await height()
    }
    const head = await heightOf('.first-head')
    expect(head).toBeGreaterThan(0)
    await heightOf('header[class*=head]:has(h1)', head)
  }
})

/** A third of what Core Web Vitals call a steady page: a slow machine shows more of the shifts than a fast one. */
const MOST_SHIFT = 0.03

async function moved(path: string, width: number): Promise<number> {
  await using page = await browser.page(app.url, { width, fresh: true })
  await page.addInitScript(`{
    globalThis.shift = 0
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.shift += value
    }).observe({ type: 'layout-shift', buffered: true })
  }`)
  await page.goto(path, { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  return await page.evaluate<number>('globalThis.shift')
}

test('little moves while Home and the workbench come, before and after the first reply', async () => {
  const { agentId } = await createAgent(app)
  for (const width of [1440, 390]) {
    for (const path of ['/', `/playground/${agentId}`]) {
      expect(await moved(path, width), `${width} ${path}`).toBeLessThan(MOST_SHIFT)
    }
  }
  const sessions = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const post = (url: string, body: object) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const { id } = Object(await (await post(sessions, {})).json())
  const answer = await post(`${sessions}/${id}/chat/completions`, {
    messages: [{ role: 'user', content: '/echo Hello' }],
  })
  expect(answer.status).toBe(200)
  for (const width of [1440, 390]) expect(await moved('/', width), `${width}, talked`).toBeLessThan(MOST_SHIFT)
})
