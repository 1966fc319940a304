/**
 * The pages' scale: five sizes of letters, three weights, a role for each colour, and fields in the one section of a
 * form that is shown.
 */
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

/**
 * The roles that letters are coloured by: words, words that stand back, the navigation, links, what is filled, and what
 * is disabled.
 */
const greys = [
  'text',
  'dimmed',
  'placeholder',
  'white',
  'body',
  'anchor',
  'gray-7',
  'dark-1',
  'gray-5',
  'dark-3',
  'error',
]
const tones = ['good', 'bad', 'busy', 'settle', 'compact', 'waiting', 'stopped', 'gone']
const roles = [...greys.map((name) => `--mantine-color-${name}`), ...tones.map((name) => `--tone-${name}`)]

/** The colours that the roles have in the scheme of the page. */
const coloursOf = (page: TestPage) =>
  page.evaluate<string[]>(`
    ${JSON.stringify(roles)}.map((role) => {
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.color = 'var(' + role + ')'
      const { color } = getComputedStyle(probe)
      probe.remove()
      return color
    })`)

/** Sizes, weights and colours of what has words of its own, each with one such element. */
const lettersOf = (page: TestPage) =>
  page.evaluate<{ size: string; weight: string; colour: string; where: string }[]>(`
    [...document.querySelectorAll('body *')].flatMap((element) => {
      const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      if (!says || element.closest('svg, script, style, noscript, .katex, pre')) return []
      const { fontSize, fontWeight, color } = getComputedStyle(element)
      return [{ size: fontSize, weight: fontWeight, colour: color, where: element.outerHTML.slice(0, 120) }]
    })`)

test.each([
  'light',
  'dark',
] as const)('every %s page has letters of five sizes, three weights and the roles of colours, and no others', async (scheme) => {
  const [sizes, weights, colours] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()]
  await using page = await browser.page(app.url, { allow: /404/, scheme })
  for (const path of pages) {
    await page.goto(path)
    await page.locator('h1, h2').first().waitFor()
    await page.waitForLoadState('load')
    for (const { size, weight, colour, where } of await lettersOf(page)) {
      if (!colours.has(colour)) colours.set(colour, `${path} ${where}`)
      if (!sizes.has(size)) sizes.set(size, `${path} ${where}`)
      if (!weights.has(weight)) weights.set(weight, `${path} ${where}`)
    }
  }
  for (const size of ['12px', '13px', '14px', '16px', '20px']) sizes.delete(size)
  for (const weight of ['400', '500', '600']) weights.delete(weight)
  // The letters below a field's coloured marks are not seen.
  for (const colour of [...(await coloursOf(page)), 'rgba(0, 0, 0, 0)']) colours.delete(colour)
  expect([...sizes, ...weights, ...colours]).toEqual([])
}, 240_000)

test('at 1,000 pixels a table has room for names and for the heads of its columns', async () => {
  await app.client.POST('/api/v1/keys', { body: { name: 'Shop', scopes: ['deploy'] } })
  await using page = await browser.page(app.url, { width: 1000 })
  for (const path of ['/agents', '/keys', '/providers', '/sessions', '/audit', `/agents/${scene.agentId}/versions`]) {
    await page.goto(path)
    const table = page.locator('main table').first()
    await table.locator('tbody td').first().waitFor()
    const narrow = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('main th')].filter((head, at) =>
        head.checkVisibility() && (head.scrollWidth > head.clientWidth + 1 || (at === 0 && head.innerText && head.clientWidth < 90)))
        .map((head) => head.innerText)`)
    await expect.poll(narrow, { message: path }).toEqual([])
  }
})

test('a section of an agent’s form is alone', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const shown = async (section: string) => {
    await page.goto(`/agents/${agentId}?section=${section}`)
    await page.locator(`[aria-current=true]`).waitFor()
    const words = page.locator('main form label:visible, main form h2:visible')
    return expect.poll(() => words.allTextContents())
  }
  await (await shown('tools')).toContain('Tools')
  await (await shown('tools')).not.toContain('Name *')
  await (await shown('pages')).toEqual(['Web pages', 'Allowed origins'])
  await (await shown('general')).toEqual(expect.arrayContaining(['Name *', 'Provider *', 'Model *']))
  await (await shown('callers')).not.toContain('Name *')
})

test('in the playground what runs is blue and what went well green, as in the chart', async () => {
  const running = await scene.begin('/slow 200', sessionId)
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${scene.agentId}/${running}`)
  const colourOf = (selector: string, name: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`)
  const tone = async (name: string) => (await coloursOf(page))[roles.indexOf(`--tone-${name}`)]
  await page.locator('[data-testid=status] i').waitFor()
  await expect.poll(() => colourOf('[data-testid=status] i', 'backgroundColor')).toBe(await tone('busy'))
  await expect
    .poll(() => colourOf('details[data-state=done] summary > svg:nth-of-type(2)', 'color'))
    .toBe(await tone('good'))
  await scene.cancel(running)
})
