/** docs/front-ends/use-chat.md as a reader copies it, in Chromium under StrictMode: logins, reloads, failures, a kill. */
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { blocksOf, checkout } from '../../docs/blocks.ts'
import { askSetUp } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/programs/free-port.ts'
import { demoAgent, type Product, startProduct } from '../../support/programs/product.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { openBrowser, type TestPage } from '../browser.ts'
import { atRest } from '../playground/playground-scene.ts'
import { builtPage } from './built-page.ts'
import { startSite, type WebSite } from './web-page.ts'

const key = 'the-deploy-key-of-tests'
const blocks = blocksOf('docs/front-ends/use-chat.md')
const codeIn = (language: string) => blocks.find((block) => block.language === language)?.code ?? ''
const trouble = await askSetUp('clients')
if (trouble !== '') throw new Error(trouble)
const installed = (name: string) => join(checkout, 'test/clients/node_modules', name)
const versions = [
  { name: 'version 7', modules: {} },
  { name: 'version 6', modules: { '@ai-sdk/react': installed('ai-sdk-react-6'), ai: installed('ai-6') } },
]
/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)
const browser = await openBrowser()
const folder = await temporaryFolder('use-chat-page')
const dataDir = await temporaryFolder('use-chat-data')
const env = { PORT: String(await freePort()), PUBLIC_API_KEY: key }
const server = `http://127.0.0.1:${env.PORT}`
let product: Product
const sites: WebSite[] = []
/** The same pages, whose backend has a key that the server refuses. */
const refused: WebSite[] = []
beforeAll(async () => {
  await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'))
  product = await startProduct({ direct: true, dataDir, env })
  const here = (code: string) => code.replaceAll('http://127.0.0.1:8080', server)
  for (const { modules } of versions) {
    const script = await builtPage(folder, here(codeIn('jsx')), modules)
    const page = `<!doctype html><meta charset="utf-8"><div id="root"></div><script>${script.replaceAll('</script', '<\\/script')}</script>`
    const code = () => ({ route: here(codeIn('js')), page })
    sites.push(await startSite('anna', key, code))
    refused.push(await startSite('anna', 'another key', code))
  }
  const params = { path: { id: demoAgent } }
  await product.client.PUT('/api/v1/agents/{id}', {
    params,
    body: { allowedOrigins: sites.map(({ origin }) => origin), onLoss: 'continue' },
  })
})
afterAll(async () => {
  await browser.close()
  for (const site of [...sites, ...refused]) await site[Symbol.asyncDispose]()
  await product?.[Symbol.asyncDispose]()
  for (const one of [folder, dataDir]) await rm(one, { recursive: true, force: true })
})

async function say(page: TestPage, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
const reply = (page: TestPage) => page.locator('article').last().textContent()
const ready = (page: TestPage) =>
  expect.poll(() => page.getByRole('status').textContent(), { timeout: WAIT_MS }).toBe('ready')
const open = async (version: number, of = sites) => {
  const page = await browser.page(of[version]?.origin ?? '', {
    allow: /net::ERR_|Failed to load resource|401 \/chat-secret/,
  })
  await page.goto('/')
  return page
}

describe.each(versions.map(({ name }, version) => ({ name, version })))('$name', ({ name, version }) => {
  verifies('contract-12.chat-transport', `${name}: a page whose user gets no secret says so`, async () => {
    await using page = await open(version, refused)
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('The chat cannot be opened (401).')
  })

  verifies(
    'contract-12.chat-transport',
    `${name}: the page goes on after reloads, stops, and says why a reply failed`,
    async () => {
      await using page = await open(version)
      await say(page, '/slow 30')
      await expect.poll(() => reply(page)).toMatch(/^assistant: 1 2 3/)
      await page.reload()
      const whole = `assistant: ${Array.from({ length: 30 }, (_, n) => n + 1).join(' ')}`
      await expect.poll(() => reply(page), { timeout: WAIT_MS }).toBe(whole)
      await ready(page)
      await say(page, '/slow 600')
      await expect.poll(() => reply(page)).toMatch(/^assistant: 1 2 3/)
      await page.getByRole('button', { name: 'Stop' }).click()
      await ready(page)
      await say(page, '/fail 3')
      await expect.poll(() => page.getByRole('status').textContent()).toMatch(/^The /)
      await page.reload()
      await expect.poll(() => page.getByRole('status').textContent(), { timeout: WAIT_MS }).toMatch(/^The /)
      await expect.poll(() => page.getByRole('alert').count()).toBe(0)
      await say(page, '/echo on')
      await expect.poll(() => reply(page), { timeout: WAIT_MS }).toBe('assistant: on')
      await ready(page)
      await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/^The /)
      await expect.poll(() => page.getByRole('button', { name: '/slow 30 !' }).count()).toBeGreaterThan(0)
    },
  )

  verifies(
    ['contract-12.chat-transport', 'contract-13.part-addresses'],
    `${name}: a picture is shown after a reload, and a call that is approved is made at once`,
    async () => {
      const params = { path: { agent_id: demoAgent } }
      const tools = { builtInToolIds: ['current_time'], approvals: ['current_time'] }
      await product.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools })
      await using page = await open(version)
      await page.getByLabel('Files').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture })
      await say(page, '/echo seen')
      await expect.poll(() => reply(page)).toBe('assistant: seen')
      await ready(page)
      await page.reload()
      const width = () => page.getByRole('img', { name: 'dot.png' }).evaluate((image) => Object(image).naturalWidth)
      await expect.poll(width, { timeout: WAIT_MS }).toBe(1)
      await say(page, '/tool current_time {}')
      await page.getByRole('button', { name: 'Approve' }).click()
      await expect
        .poll(() => reply(page), { timeout: WAIT_MS })
        .toMatch(/current_time: output-available.*\d{4}-\d\d-\d\d/)
      await ready(page)
    },
  )

  verifies(
    'contract-12.chat-transport',
    `${name}: a kill -9 in the middle of a reply that continues repeats no word`,
    async () => {
      await using page = await open(version)
      await say(page, '/slow 40')
      await expect.poll(() => reply(page)).toMatch(/^assistant: 1 2 3 4 5 6/)
      await product.kill9()
      product = await startProduct({ direct: true, dataDir, env })
      await ready(page)
      const shown = (await atRest(page, () => reply(page))) ?? ''
      const words = shown.replace(/^assistant: /, '').split(/\s+/)
      expect(words.slice(0, 6)).toEqual(['1', '2', '3', '4', '5', '6'])
      expect(shown.match(/\b1 2 3\b/g), shown).toHaveLength(1)
      await page.reload()
      await expect.poll(() => reply(page), { timeout: WAIT_MS }).toBe(shown)
    },
  )
})
