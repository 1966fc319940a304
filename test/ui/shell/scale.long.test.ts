/** The pages' scale: five sizes of letters, three weights, and fields in the one section of a form that is shown. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { openBrowser, type TestPage } from '../browser.ts'
import { chartScene } from '../chart/chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const sessionId = await scene.say('/tool current_time {"timeZone":"Europe/Paris"}')
await scene.say('/fail 3', sessionId)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const resources = ['/agents', '/prompts', '/providers', '/webhooks', '/tools/http', '/tools/mcp', '/keys']
const pages = [
  '/',
  '/playground',
  `/playground/${scene.agentId}/${sessionId}`,
  '/sessions',
  '/waiting',
  '/usage',
  '/audit',
  '/tools/built-in',
  '/nowhere',
  `/agents/${scene.agentId}`,
  '/chart',
  `/chart?view=replay&agent=${scene.agentId}&session=${sessionId}`,
  '/chart?view=actors',
  ...resources.flatMap((path) => [path, `${path}/new`]),
]

/** Sizes and weights of what has words of its own, each with one such element. */
const lettersOf = (page: TestPage) =>
  page.evaluate<{ size: string; weight: string; where: string }[]>(`
    [...document.querySelectorAll('body *')].flatMap((element) => {
      const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      if (!says || element.closest('svg, script, style, noscript, .katex')) return []
      const { fontSize, fontWeight } = getComputedStyle(element)
      return [{ size: fontSize, weight: fontWeight, where: element.outerHTML.slice(0, 120) }]
    })`)

test('every page has letters of five sizes and three weights, and no others', async () => {
  const [sizes, weights] = [new Map<string, string>(), new Map<string, string>()]
  await using page = await browser.page(app.url, { allow: /404/ })
  for (const path of pages) {
    await page.goto(path)
    await page.locator('h1, h2').first().waitFor()
    await page.waitForLoadState('load')
    for (const { size, weight, where } of await lettersOf(page)) {
      if (!sizes.has(size)) sizes.set(size, `${path} ${where}`)
      if (!weights.has(weight)) weights.set(weight, `${path} ${where}`)
    }
  }
  for (const size of ['12px', '13px', '14px', '16px', '20px']) sizes.delete(size)
  for (const weight of ['400', '500', '600']) weights.delete(weight)
  expect([...sizes, ...weights]).toEqual([])
}, 240_000)

test('a section of an agent’s form is alone', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const shown = async (section: string) => {
    await page.goto(`/agents/${agentId}?section=${section}`)
    await page.locator(`[aria-current=true]`).waitFor()
    return await page.locator('main form label:visible, main form h2:visible').allTextContents()
  }
  const tools = await shown('tools')
  expect(tools).toContain('Tools')
  expect(tools).not.toContain('Name *')
  expect(await shown('pages')).toEqual(['Web pages', 'Allowed origins'])
  expect((await shown('general')).slice(0, 3)).toEqual(['Name *', 'Provider *', 'Model *'])
  expect(await shown('callers')).not.toContain('Name *')
})
