/** How models and their servers slip, by the reports of others' users: no slip costs more than itself. */
import { expect, test } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import type { Script } from '../../support/network/upstream.ts'
import { newSession, postJson } from '../../support/programs/product.ts'
import { callsFor, openField, startServer } from './field.ts'

const field = await openField({ env: { PROVIDER_RETRIES: '0' } })
const { up, product, agent, ask, chooses } = field
const shop = await startServer((_, response) => void response.end('sold'))
const { id: tool } = await field.make('/api/v1/http-tools', {
  name: 'buy',
  description: 'Buys.',
  method: 'GET',
  url: `${shop.url}/buy`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
})
await chooses({ httpToolIds: [tool] })

const contentOf = ({ json }: { json: Record<string, unknown> }) => Object(json).choices?.[0].message.content

async function inSession() {
  const session = await newSession(product.url, agent)
  return async (content: string) => {
    const body = { messages: [{ role: 'user', content }] }
    const answered = await postJson(`${product.url}${session}/chat/completions`, body)
    return { status: answered.status, json: Object(await answered.json()) }
  }
}

test('a model that refuses more than it can hold is asked with less, and no message ends a session', async () => {
  const say = await inSession()
  const sizeOf = (body: object) => JSON.stringify(Object(body).messages).length / 4
  up.always((call) => {
    if (sizeOf(call.body) <= 8192) return says('fine')(call)
    const message = `This model's maximum context length is 8192 tokens. However, your messages resulted in ${Math.ceil(sizeOf(call.body))} tokens.`
    return call.error(400, { error: { message, code: 'context_length_exceeded' } })
  })
  for (let n = 0; n < 14; n++) expect((await say(`${n} ${'word '.repeat(900)}`)).status).toBe(200)
  expect((await say('long '.repeat(12_000))).status).toBe(400)
  expect(contentOf(await say('hello'))).toBe('fine')
})

test('a turn that has ended is over, though its socket stays open and says that it lives', async () => {
  const open: Script = async (call) => {
    await call.text('whole')
    await call.delta({}, 'stop')
    await call.comment('keep-alive')
  }
  up.next(open)
  expect(contentOf(await ask('x'))).toBe('whole')
})

test('two calls with one id are two, for the tool and for the model', async () => {
  shop.paths.length = 0
  up.next(
    callsFor(
      { index: 0, id: 'same', name: 'buy', arguments: '{"a":"1"}' },
      { index: 1, id: 'same', name: 'buy', arguments: '{"a":"2"}' },
    ),
  )
  up.next(says('done'))
  expect(contentOf(await ask('x'))).toBe('done')
  expect(shop.paths).toEqual(['/buy?a=1', '/buy?a=2'])
  const { messages } = up.calls.at(-1)?.body ?? {}
  const made = messages.at(-3).tool_calls.map(({ id }: { id: string }) => id)
  expect(new Set(made).size).toBe(2)
  expect(messages.slice(-2).map((message: { tool_call_id: string }) => message.tool_call_id)).toEqual(made)
})

test.each(['{}{"a":"1"}', '{"a":"1"}{"a":"1"}'])('arguments that can mean one thing are that: %s', async (given) => {
  shop.paths.length = 0
  up.next(callsFor({ index: 0, id: 'c1', name: 'buy', arguments: given }))
  up.next(says('done'))
  await ask('x')
  expect(shop.paths).toEqual(['/buy?a=1'])
})

test('arguments under another index than their head belong to it', async () => {
  shop.paths.length = 0
  up.next(async (call) => {
    await call.delta({
      tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'buy', arguments: '' } }],
    })
    await call.delta({ tool_calls: [{ index: 1, function: { arguments: '{"a":"1"}' } }] })
    await call.finish('tool_calls')
  })
  up.next(says('done'))
  await ask('x')
  expect(shop.paths).toEqual(['/buy?a=1'])
})

test.each([
  { code: 1302, message: 'Your quota of tuesdays is used up.' },
  { detail: 'Your quota of tuesdays is used up.' },
  { errors: [{ message: 'Your quota of tuesdays is used up.' }] },
])('an error behind status 200 reaches the reader in its words: %o', async (body) => {
  up.next((call) => call.json(body))
  expect((await ask('x')).json.error).toContain('quota of tuesdays')
  up.next(async (call) => {
    await call.data(body)
    call.end()
  })
  expect((await ask('x')).json.error).toContain('quota of tuesdays')
})

test('an empty error beside text is none, and arguments beyond 1 MiB are said to be', async () => {
  up.next(async (call) => {
    await call.data({ choices: [{ index: 0, delta: { content: 'whole' } }], error: '' })
    await call.finish()
  })
  expect(contentOf(await ask('x'))).toBe('whole')
  const large = { name: 'buy', arguments: `{"a":"${'x'.repeat(1024 * 1024)}"}` }
  up.next((call) => call.delta({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: large }] }))
  expect((await ask('x')).json.error).toContain('1 MiB')
})

test('think tags at the beginning are reasoning', async () => {
  up.next(says('<think>hm</think>Yes.'))
  const answered = await ask('x', { include_reasoning: true })
  expect(answered.json.choices[0].message).toMatchObject({ content: 'Yes.', reasoning_content: 'hm' })
})
