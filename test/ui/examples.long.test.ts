/** The example pages in Chromium, as the one command of examples/README.md serves them (contract section 12). */
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../support/app.ts'
import { type DroppingProxy, startProxy } from '../support/network/proxy.ts'
import { startUpstream, type Upstream, type UpstreamCall } from '../support/network/upstream.ts'
import { freePort } from '../support/programs/free-port.ts'
import { type Program, startProgram } from '../support/programs/program.ts'
import { seededRandom } from '../support/random.ts'
import { verifies } from '../verifies.ts'
import { openBrowser, type TestPage } from './browser.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = ['use-chat', 'ag-ui', 'fetch'] as const

const browser = await openBrowser()
let up: Upstream
let app: TestApp
let network: DroppingProxy
let examples: Program
let url: string
let agentId: string
beforeAll(async () => {
  up = await startUpstream()
  app = await startTestApp()
  network = await startProxy(app.url)
  agentId = (await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })).agentId
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const command = `GREENROOM_URL=${network.url} exec npm run examples -- --port ${port} --strictPort`
  const ready = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  examples = await startProgram('sh', ['-c', command], { cwd: root, ready })
})
afterAll(async () => {
  await examples?.kill9()
  await network?.[Symbol.asyncDispose]()
  await app?.[Symbol.asyncDispose]()
  await up?.close()
})

const open = async (name: string): Promise<TestPage> => {
  // HttpAgent logs a lost connection and throws it past its caller as well.
  const page = await browser.page(url, { allow: /net::ERR_|Agent execution failed|TypeError: network error/ })
  await page.goto(`/${name}/?agent=${agentId}`)
  return page
}
const replyOf = (page: TestPage) => page.locator('article[data-role=assistant]').last()
const status = (page: TestPage) => page.locator('output')

async function say(page: TestPage, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

function byHand(): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  up.next(resolve)
  return promise
}

async function stored(page: TestPage): Promise<string[]> {
  const id = new URL(page.url()).hash.slice(1)
  const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/sessions/${id}/messages`)
  return Object(await answer.json()).messages.map(({ content }: { content: string }) => content)
}
// Answers that a failed test has left are not given to the next one.
beforeEach(() => up.forget())
const shown = (page: TestPage) => page.locator('article').allTextContents()

verifies('contract-12.examples', 'each page has less than 80 lines of its own', async () => {
  for (const name of pages) {
    const files = (await readdir(`${root}/examples/${name}`)).filter((file) => /\.tsx?$/.test(file))
    for (const file of files) {
      const lines = (await readFile(`${root}/examples/${name}/${file}`, 'utf8')).trimEnd().split('\n')
      expect([name, file, lines.length < 80]).toEqual([name, file, true])
    }
  }
})

describe.each(pages)('%s', (name) => {
  verifies(
    ['contract-12.examples', 'contract-12.one-log'],
    `${name}: reloaded at random moments of a reply, nothing is lost and nothing comes twice`,
    async () => {
      const random = seededRandom(`examples ${name}`)
      await using page = await open(name)
      const next = byHand()
      await say(page, 'Tell me.')
      const call = await next
      let text = ''
      for (let word = 0; word < 40; word++) {
        await call.text(`word${word} `)
        text += `word${word} `
        if (random() < 0.8) continue
        if (random() < 0.5) await expect.poll(() => replyOf(page).textContent()).toBe(text)
        await page.reload()
      }
      await page.reload()
      await call.finish()
      await expect.poll(() => shown(page)).toEqual(['Tell me.', text])
      await expect.poll(() => status(page).textContent()).toBe('ready')
      expect(await stored(page)).toEqual(['Tell me.', text])
      await page.reload()
      await expect.poll(() => shown(page)).toEqual(['Tell me.', text])
      await expect.poll(() => status(page).textContent()).toBe('ready')
      up.next(async (one) => {
        await one.text('And more.')
        await one.finish()
      })
      await say(page, 'Go on.')
      await expect.poll(() => shown(page)).toEqual(['Tell me.', text, 'Go on.', 'And more.'])
      await expect.poll(() => stored(page)).toEqual(['Tell me.', text, 'Go on.', 'And more.'])
    },
  )

  verifies(
    ['contract-12.examples', 'contract-12.one-log'],
    `${name}: a connection that is cut comes back by itself`,
    async () => {
      await using page = await open(name)
      const next = byHand()
      await say(page, 'Tell me.')
      const call = await next
      await call.text('one ')
      await expect.poll(() => replyOf(page).textContent()).toBe('one ')
      network.drop()
      await call.text('two ')
      await expect.poll(() => replyOf(page).textContent()).toBe('one two ')
      network.drop()
      await call.text('three')
      await call.finish()
      await expect.poll(() => shown(page)).toEqual(['Tell me.', 'one two three'])
      await expect.poll(() => status(page).textContent()).toBe('ready')
      expect(await stored(page)).toEqual(['Tell me.', 'one two three'])
    },
  )
})

verifies(
  ['contract-12.examples', 'contract-12.ai-sdk-resume'],
  'use-chat: stop in one tab ends the reply in the other',
  async () => {
    await using page = await open('use-chat')
    const next = byHand()
    await say(page, 'Tell me.')
    const call = await next
    await call.text('so far')
    await expect.poll(() => replyOf(page).textContent()).toBe('so far')
    await using other = await browser.page(url)
    await other.goto(page.url())
    await expect.poll(() => replyOf(other).textContent()).toBe('so far')
    await other.getByRole('button', { name: 'Stop' }).click()
    for (const tab of [page, other]) await expect.poll(() => status(tab).textContent()).toBe('ready')
    await call.closed
    await expect.poll(() => stored(page)).toEqual(['Tell me.', 'so far'])
  },
)
