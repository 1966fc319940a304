/**
 * `npm run record:on-call`: records a minute on call into docs/pictures/on-call.gif. A key has expired: a failed reply
 * is found on the home page, understood in its trace, and answered once the key is replaced. The pages, the server and
 * the seconds are real; the vendor is played.
 */
import { rm, writeFile } from 'node:fs/promises'
import { stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startUpstream, type Upstream } from '../../test/support/network/upstream.ts'
import { type Product, startProduct } from '../../test/support/programs/product.ts'
import { launchBrowser } from '../../test/ui/browser.ts'
import { animationOf, type Shot } from './animation.ts'
import { addPointer, clickIn, film } from './film.ts'

const REST_MS = 4000
const READ_MS = 1800
const WORD_MS = 45
const dataDir = '/tmp/on-call'
const file = new URL('../../docs/pictures/on-call.gif', import.meta.url)

const expired = 'sk-lantern-2025-expired'
const renewed = 'sk-lantern-2026'
const answer =
  'Order 48213 left our warehouse in Lyon on Tuesday and is with the carrier. It should reach you tomorrow before noon; the link in your mail shows where it is.'

function play(up: Upstream): void {
  up.models = ['gpt-large', 'gpt-small']
  up.always(async (call) => {
    if (call.headers.authorization !== `Bearer ${renewed}`) {
      call.error(401, {
        error: { message: 'The API key has expired.', type: 'invalid_request_error', code: 'key_expired' },
      })
      return
    }
    for (const word of answer.split(/(?<= )/)) {
      await call.text(word)
      await pause(WORD_MS)
    }
    await call.finish('stop', { prompt_tokens: 212, completion_tokens: 38 })
  })
}

const before = [
  'How do I return a lamp?',
  'Which bulb fits the Arc 2?',
  'Is the Beam dimmable?',
  'Do you ship to Norway?',
]
const failing = ['Can I still change my address?', 'The dimmer hums at half power', 'Where is my order 48213?']

function idOf({ data, error }: { data?: { id: string }; error?: unknown }): string {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

/** A shop's support: it answered, until its key expired. */
async function prepare({ client, url }: Product, up: Upstream): Promise<void> {
  const provider = { name: 'OpenAI EU', providerType: 'openai-compatible', baseUrl: up.url, apiKey: renewed } as const
  const providerId = idOf(await client.POST('/api/v1/settings/providers', { body: provider }))
  const agentId = idOf(
    await client.POST('/api/v1/agents', { body: { name: 'Lantern support', providerId, model: 'gpt-large' } }),
  )
  const ask = async (message: string) => {
    const headers = { 'content-type': 'application/json' }
    const address = `${url}/api/v1/agents/${agentId}/playground/chat`
    await (await fetch(address, { method: 'POST', headers, body: JSON.stringify({ message }) })).text()
  }
  for (const message of before) await ask(message)
  await client.PUT('/api/v1/settings/providers/{id}', {
    params: { path: { id: providerId } },
    body: { apiKey: expired },
  })
  for (const message of failing) await ask(message)
}

async function beOnCall(page: Page): Promise<Shot[]> {
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.goto('/')
  await page.evaluate(`localStorage.setItem('first-steps', 'dismissed')`)
  await page.goto('/')
  await page.getByText('OpenAI EU · HTTP 401').waitFor()
  await addPointer(page)
  const stop = film(page)
  await pause(READ_MS)
  await clickIn(page, page.getByRole('link', { name: /provider_auth/ }))
  await page.getByRole('table', { name: 'Sessions' }).getByText('401').first().waitFor()
  await pause(READ_MS)
  await page.keyboard.press('j')
  await page
    .getByRole('complementary', { name: 'Preview' })
    .getByText(/The API key has expired\.$/)
    .first()
    .waitFor()
  await pause(READ_MS)
  await clickIn(page, page.getByRole('complementary', { name: 'Preview' }).getByRole('link', { name: 'Open' }))
  await page.getByText('The provider refused the API key').waitFor()
  await pause(READ_MS)
  await clickIn(page, button('Show the trace'))
  await pause(2 * READ_MS)
  await clickIn(page, page.getByRole('link', { name: 'Open the provider' }))
  const key = page.getByLabel('API key', { exact: false }).first()
  await key.waitFor()
  await clickIn(page, key)
  await key.pressSequentially(renewed, { delay: 60 })
  await clickIn(page, button('Save'))
  await page.getByText('Saved.').waitFor()
  await clickIn(page, button('Test connection'))
  await page.getByText('Answered in').waitFor()
  await pause(READ_MS)
  await page.goBack()
  await clickIn(page, button('Try again'))
  await page.getByText('before noon').waitFor()
  await page.getByTestId('status').getByText('Complete').waitFor()
  await pause(READ_MS)
  return await stop()
}

await rm(dataDir, { recursive: true, force: true })
const browser = await launchBrowser()
try {
  await using up = await startUpstream()
  play(up)
  await using product = await startProduct({ dataDir })
  await prepare(product, up)
  await using page = await browser.page(product.url, { width: 1280, height: 800 })
  const shots = await beOnCall(page)
  const gif = animationOf(shots, REST_MS)
  await writeFile(file, gif)
  stdout.write(`${shots.length} shots, ${Math.round(gif.length / 1000)} kB\n`)
} finally {
  await browser.close()
  await rm(dataDir, { recursive: true, force: true })
}
