/** Contract section 19, on the Responses wire: files, refused fields, errors after text, and values that are never dropped. */
import { describe, expect } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import { fieldRefusal } from '../../../src/providers/answer-fields.ts'
import { verifies } from '../../verifies.ts'
import { ask, connectionTo, failureIn, requestTo, scene, spoken, textOf } from '../scene.ts'
import { requestFor, respond, text, tool } from './scene.ts'

verifies('contract-19.responses-request', 'a document is an input_file', async () => {
  const { up, model } = await scene()
  up.always((call) => respond(call, [text('ok')]))
  const bytes = Buffer.from('%PDF-')
  const part = {
    type: 'file',
    mediaType: 'application/pdf',
    filename: 'a.pdf',
    detail: null,
    sha256: 'a'.repeat(64),
    size: bytes.length,
    sourceUrl: null,
    place: 0,
    async *read() {
      yield bytes
    },
  } as const
  const messages: ModelMessage[] = [{ role: 'user', content: 'Read!', segments: ['Read!', part] }]
  await ask(model, requestFor(up, { messages }))
  expect((await up.call(1)).body.input[0].content.at(-1)).toEqual({
    type: 'input_file',
    filename: 'a.pdf',
    file_data: `data:application/pdf;base64,${bytes.toString('base64')}`,
  })
})

verifies('contract-19.responses-request', 'stop, seed and a maximum below 16 are refused', () => {
  const of = (wireApi: 'responses' | 'chat_completions') => (fields: Parameters<typeof fieldRefusal>[1]) =>
    fieldRefusal({ provider: { type: 'openai', wireApi }, model: 'gpt-5.6' }, fields)
  const maxTokens = (value: number) => ({ maxTokens: { name: 'max_tokens', value } }) as const
  const refused = [{ stop: ['END'] }, { seed: 3 }, maxTokens(15)]
  expect(refused.map(of('responses')).map((words) => words?.split(':')[0])).toEqual(['stop', 'seed', 'max_tokens'])
  expect(refused.map(of('chat_completions'))).toEqual([null, null, null])
  expect(of('responses')(maxTokens(16))).toBeNull()
})

verifies(
  'contract-19.responses-events',
  'an error event ends the turn; after text nothing is asked again',
  async () => {
    const { up, model } = await scene({ providerRetries: 2 })
    up.always(async (call) => {
      await call.data(text('half'))
      await call.data({ type: 'error', code: 'server_error', message: 'it fell over' })
      call.end()
    })
    const events = await ask(model, requestFor(up))
    expect([textOf(events), failureIn(events).message]).toEqual(['half', expect.stringContaining('it fell over')])
    expect(up.calls).toHaveLength(1)
  },
)

describe('a value that somebody named is never dropped', () => {
  const refusing = (message: string) => async () => {
    const { up, model } = await scene({ providerRetries: 2 })
    up.always((call) => call.error(400, { error: { message } }))
    return { up, model }
  }
  const cases = [
    [
      'temperature',
      "Unsupported parameter: 'temperature' is not supported with this model.",
      { config: { temperature: 0.5 } },
    ],
    [
      'effort',
      "Unsupported value: 'reasoning_effort' does not support 'max' with this model.",
      { agentFields: { reasoningEffort: 'max' } },
    ],
    [
      'effort beside tools',
      'Function tools with reasoning_effort are not supported.',
      { fields: { reasoningEffort: 'high' }, tools: [tool] },
    ],
    ['top_p', "Unsupported parameter: 'top_p'.", { config: { topP: 0.5 } }],
    ['maximum', 'max_output_tokens is too large', { agentFields: { maxTokens: 10_000_000 } }],
    [
      'format',
      "Invalid parameter: 'response_format' is not supported.",
      { fields: { responseFormat: { type: 'json_object' } } },
    ],
  ] as const
  for (const [name, message, changes] of cases) {
    verifies(
      'contract-19.optional-fields',
      `${name}: the provider's error, and one request, on both wires`,
      async () => {
        const { up, model } = await refusing(message)()
        const chat = requestTo(up, { provider: connectionTo(up.url, 'openai'), model: 'gpt-4.1', ...changes })
        for (const request of [chat, requestFor(up, { model: 'gpt-4.1', ...changes })]) {
          const before = up.calls.length
          expect(failureIn(await ask(model, request)).message).toContain(message)
          expect(up.calls).toHaveLength(before + 1)
        }
      },
    )
  }
})

verifies(
  'contract-19.optional-fields',
  'what one provider refuses another one of the same model is asked',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always((call) =>
      call.body.include
        ? call.error(400, { error: { message: 'Encrypted content is not supported.' } })
        : respond(call, [text('ok')]),
    )
    const request = requestFor(up)
    for (const id of ['p1', 'p1', 'p2', 'p2']) {
      const events = await ask(model, { ...request, provider: { ...request.provider, id } })
      expect(spoken(events).at(-1)).toMatchObject({ type: 'end' })
    }
    expect(up.calls.map(({ body }) => body.include !== undefined)).toEqual([true, false, false, true, false, false])
  },
)
