/** Servers that refuse reasoning in what is sent, and servers that demand it. (Contract sections 12 and 19.) */
import { expect, test } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, requestTo } from '../scene.ts'
import { earlier, echoed, plain, reasoningIn, wants } from './back-scene.ts'

const rule = 'contract-12.reasoning-back' as const

for (const isAsked of [false, true])
  verifies(
    [rule, 'contract-19.optional-fields'],
    `a server that says that it is missing is sent that of the reply, and blanks for others, from then on (asked: ${isAsked})`,
    async () => {
      const { up, model, messages, provider } = await echoed(
        [{ reasoning_content: 'Hm' }],
        'openai-compatible',
        {},
        isAsked,
      )
      up.always(wants)
      const request = requestTo(null, { provider, messages: [...earlier, ...messages] })
      for (const _ of [1, 2]) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
      const [first, ...others] = up.calls.slice(2).map(reasoningIn)
      expect(first).toEqual([null, null, isAsked ? 'Hm' : null])
      expect(others).toEqual([
        [' ', ' ', 'Hm'],
        [' ', ' ', 'Hm'],
      ])
    },
  )

const words = [
  'The `reasoning_content` in the thinking mode must be passed back to the API.',
  'Missing `reasoning_content` field in the assistant message at message index 1.',
  'preserved thinking requires reasoning_content on every assistant message',
]
for (const message of words)
  test(`who is not content with it either is not asked a third time: ${message}`, async () => {
    const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai', {}, false)
    up.always((one) => one.error(400, { error: { message } }))
    const events = await ask(model, requestTo(null, { provider, messages }))
    expect(failureIn(events).message).toContain(message)
    expect(up.calls.slice(2).map(reasoningIn)).toEqual([[null], [' ']])
  })

test('a gateway with a server that wants it and one that refuses it is answered by both, each time', async () => {
  const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai-compatible')
  const refuses = (one: UpstreamCall) =>
    reasoningIn(one).some((text) => text !== null)
      ? one.error(400, { error: { message: 'Unsupported parameter: reasoning_content' } })
      : one.finish()
  const request = requestTo(null, { provider, messages })
  for (const server of [refuses, wants, refuses, wants]) {
    up.always(server)
    expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
  }
})

const thoughts = ['The required city is given.', 'Missing the city? No: Oslo.', 'reasoning_content is missing']
const refusals: [string, (at: number, text: string) => object][] = [
  [
    'Fireworks',
    (at, text) => ({
      error: {
        message: `Extra inputs are not permitted, field: 'messages[${at}].reasoning_content', value: '${text}'`,
      },
    }),
  ],
  [
    'Pydantic',
    (at, input) => {
      const loc = ['body', 'messages', at, 'assistant', 'reasoning_content']
      return { detail: [{ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted', input }] }
    },
  ],
]
for (const [name, bodyOf] of refusals)
  verifies(
    'contract-19.optional-fields',
    `${name} refuses it and quotes it: words of the model do not make a demand of that`,
    async () => {
      for (const text of thoughts) {
        for (const history of [[], earlier]) {
          const { up, model, messages, provider } = await echoed([{ reasoning_content: text }], 'openai-compatible')
          up.always((one) => {
            const at = reasoningIn(one).findIndex((back) => back !== null)
            return at < 0 ? one.finish() : one.error(400, bodyOf(at, text))
          })
          const request = requestTo(null, { provider, messages: [...history, ...messages] })
          for (const _ of [1, 2]) expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
          const none = history.length > 0 ? [null, null] : []
          expect(up.calls.slice(2).map(reasoningIn)).toEqual([
            [...none, text],
            [...none, null],
            [...none, null],
          ])
        }
      }
    },
  )

verifies(
  'contract-19.optional-fields',
  'a refusal in words that read like a demand is answered without it, once it was sent in vain',
  async () => {
    for (const history of [[], earlier]) {
      const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai-compatible')
      up.always((one) =>
        reasoningIn(one).some((back) => back !== null)
          ? one.error(400, { error: { message: 'reasoning_content: the missing key "thinking" rules it out' } })
          : one.finish(),
      )
      const request = requestTo(null, { provider, messages: [...history, ...messages] })
      expect((await ask(model, request)).at(-1)).toMatchObject({ type: 'end' })
    }
  },
)

verifies('contract-19.optional-fields', 'Pydantic says that it is missing without a sentence', async () => {
  const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai', {}, false)
  const loc = ['body', 'messages', 1, 'assistant', 'reasoning_content']
  up.next((one) => one.error(422, { detail: [{ type: 'missing', loc, msg: 'Field required', input: {} }] }))
  up.next((one) => one.finish())
  expect((await ask(model, requestTo(null, { provider, messages }))).at(-1)).toMatchObject({ type: 'end' })
  expect(up.calls.slice(2).map(reasoningIn)).toEqual([[null], [' ']])
})

verifies(
  rule,
  'who wants it gets none in a chat without tools, and none beside the beginning of an answer',
  async () => {
    const { up, model, messages, provider } = await echoed(
      [{ reasoning_content: 'Hm' }],
      'openai-compatible',
      {},
      false,
    )
    up.always(wants)
    await ask(model, requestTo(null, { provider, messages }))
    const next: ModelMessage = { role: 'user', content: 'now' }
    const chat: ModelMessage[] = [next, { role: 'assistant', content: 'Yes.' }, next]
    await ask(model, requestTo(null, { provider, messages: chat }))
    const begun: ModelMessage = { role: 'assistant', content: 'I', isBeginning: true }
    const router = { ...provider, type: 'openrouter' }
    const going = { provider: router, model: 'deepseek/deepseek-v3.2', messages: [...earlier, ...messages, begun] }
    await ask(model, requestTo(null, going))
    expect(up.calls.slice(3).map(reasoningIn)).toEqual([
      ['Hm'],
      [null],
      [null, null, null, null],
      [' ', ' ', ' ', null],
    ])
  },
)

test('a server that refuses it is asked once more without, then spared', async () => {
  const { up, model, messages, provider } = await echoed([{ reasoning_content: 'Hm' }], 'openai-compatible')
  up.next((one) => one.error(422, { detail: [{ msg: 'Extra inputs are not permitted', loc: ['reasoning_content'] }] }))
  for (const _ of [1, 2]) {
    expect((await ask(model, requestTo(null, { provider, messages }))).at(-1)).toMatchObject({ type: 'end' })
  }
  const backs = up.calls.slice(2).map(({ body }) => body.messages[1])
  expect(backs).toEqual([{ ...plain, reasoning_content: 'Hm' }, plain, plain])
})
