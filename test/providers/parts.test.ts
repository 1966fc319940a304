/** Contract section 13: pictures and files as each vendor gets them, through its official SDK. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { userMessage } from '../../src/actors/history/message-parts.ts'
import type { MessagePart } from '../../src/actors/ports/index.ts'
import { partRefusal, takenParts, takesPart } from '../../src/providers/parts.ts'
import { providerTypes } from '../../src/providers/provider-types.ts'
import { verifies } from '../verifies.ts'
import { open } from './native/native-scene.ts'
import { requestFor } from './responses/scene.ts'
import { ask, connectionTo, okay, requestTo, sayOk, scene, spoken } from './scene.ts'

/** Its bytes come in pieces of this size. */
const part = (
  mediaType: string,
  bytes: Buffer,
  { place = 0, filename = null as string | null, piece = 7 } = {},
): MessagePart => ({
  type: mediaType.startsWith('image/') ? 'image_url' : 'file',
  sha256: createHash('sha256').update(bytes).digest('hex'),
  mediaType,
  filename,
  size: bytes.length,
  detail: null,
  sourceUrl: null,
  place,
  read: async function* () {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  },
})

const picture = Buffer.from('picture bytes \0\xff', 'latin1')
const document = Buffer.from('%PDF-1.7 bytes')
const words = Buffer.from('Wörter "quoted"\n\u2028\ttab')
const messages = [
  userMessage('See  and read', [
    part('image/png', picture, { place: 4 }),
    part('application/pdf', document, { place: 4, filename: 'a.pdf' }),
    part('text/markdown', words, { place: 13, filename: 'notes.md' }),
  ]),
]
const base64 = (bytes: Buffer) => bytes.toString('base64')

verifies('contract-13.parts', 'chat-completions servers get them, with the length of the body', async () => {
  const { up, model } = await scene()
  up.always(sayOk)
  expect(spoken(await ask(model, requestTo(up, { messages })))).toEqual(okay)
  const [call] = up.calls
  expect(call?.body.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See ' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(picture)}` } },
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64(document)}` } },
        { type: 'text', text: ' and read' },
        { type: 'text', text: `The file notes.md (text/markdown):\n\n${words}` },
      ],
    },
  ])
  expect(Number(call?.headers['content-length'])).toBe(Buffer.byteLength(JSON.stringify(call?.body)))
})

verifies('contract-13.parts', 'Anthropic and Gemini get them in their own words', async () => {
  const anthropic = await open('anthropic')
  anthropic.up.always((call) => call.error(400))
  await ask(anthropic.model, anthropic.request({ messages }))
  const cached = { cache_control: { type: 'ephemeral' } }
  expect(anthropic.up.calls[0]?.body.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See ' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64(picture) } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: base64(document) },
          title: 'a.pdf',
        },
        { type: 'text', text: ' and read' },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: `${words}` },
          title: 'notes.md',
          ...cached,
        },
      ],
    },
  ])
  const gemini = await open('gemini')
  gemini.up.always((call) => call.error(400))
  await ask(gemini.model, gemini.request({ messages }))
  expect(gemini.up.calls[0]?.body.contents).toEqual([
    {
      role: 'user',
      parts: [
        { text: 'See ' },
        { inlineData: { mimeType: 'image/png', data: base64(picture) } },
        { inlineData: { mimeType: 'application/pdf', data: base64(document) } },
        { text: ' and read' },
        { inlineData: { mimeType: 'text/markdown', data: base64(words) } },
      ],
    },
  ])
})

verifies('contract-13.parts', 'bytes in pieces of any size, and a body that is sent twice', async () => {
  const { up, model } = await scene({ providerRetries: 1, backOffMs: 1 })
  for (const size of [0, 1, 2, 3, 4, 98_303, 98_304, 200_000]) {
    const bytes = Buffer.alloc(size, 'abc\n"')
    const both = [
      userMessage('', [part('image/png', bytes, { piece: 50_001 }), part('text/plain', bytes, { piece: 50_001 })]),
    ]
    up.next((call) => call.error(500))
    up.next(sayOk)
    expect(spoken(await ask(model, requestTo(up, { messages: both })))).toEqual(okay)
    for (const call of up.calls.slice(-2)) {
      const [image, text] = call.body.messages[0].content
      expect([
        size,
        image.image_url.url === `data:image/png;base64,${base64(bytes)}`,
        text.text.endsWith(`\n\n${bytes}`),
      ]).toEqual([size, true, true])
    }
  }
})

verifies(
  'contract-13.part-providers',
  'fallbacks that do not take them are passed over; history that is not taken is told',
  async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const target = (type: string) => ({ provider: { ...connectionTo(up.url, type), id: type }, model: type })
    up.next((call) => call.error(500))
    up.next(sayOk)
    const fallbacks = [target('deepseek'), target('openai')]
    await ask(model, requestTo(up, { ...target('groq'), messages, fallbacks, mediaTypes: ['image/png'] }))
    expect(up.calls.map(({ body }) => body.model)).toEqual(['groq', 'openai'])
    up.next(sayOk)
    await ask(model, requestTo(up, { ...target('deepseek'), messages }))
    const told = up.calls.at(-1)?.body.messages[0].content.map(({ text }: { text: string }) => text)
    expect(told.slice(0, 3)).toEqual([
      'See ',
      '[A picture stood here that this model does not take: image/png]',
      expect.stringContaining('application/pdf'),
    ])
  },
)

verifies('contract-13.part-providers', 'every type says what it takes', () => {
  for (const { id } of providerTypes) {
    const { pictures, pdf } = takenParts[id]
    const target = { provider: { type: id } }
    expect([id, takesPart(id, 'image/*'), partRefusal(target, ['text/csv'])]).toEqual([id, pictures.length > 0, null])
    expect([id, partRefusal(target, ['application/pdf']) === null]).toEqual([id, pdf])
  }
  expect(partRefusal({ provider: { type: 'gemini' } }, ['image/png', 'image/gif'])).toContain('image/gif')
})

const call = (id: string) => ({ id, name: 'look', arguments: '{}' })
const shown = [
  userMessage('Look.'),
  { role: 'assistant' as const, content: '', toolCalls: [call('a'), call('b')] },
  { role: 'tool' as const, toolCallId: 'a', content: 'one', pictures: [part('image/png', picture)] },
  { role: 'tool' as const, toolCallId: 'b', content: 'two', pictures: [part('image/gif', picture)] },
]
const follow = '[The pictures that the tools returned, in the order of their results:]'
const url = (type: string) => `data:${type};base64,${base64(picture)}`

verifies(
  'contract-25.tool-pictures',
  'a tool’s picture goes behind the results of its turn, in every vendor’s words',
  async () => {
    const { up, model } = await scene()
    up.always(sayOk)
    await ask(model, requestTo(up, { messages: shown }))
    expect(up.calls[0]?.body.messages.slice(-3)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: follow },
          { type: 'image_url', image_url: { url: url('image/png') } },
          { type: 'image_url', image_url: { url: url('image/gif') } },
        ],
      },
    ])

    const anthropic = await open('anthropic')
    anthropic.up.always((one) => one.error(400))
    await ask(anthropic.model, anthropic.request({ messages: shown }))
    expect(anthropic.up.calls[0]?.body.messages.at(-1).content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'a', content: 'one' },
      { type: 'tool_result', tool_use_id: 'b', content: 'two' },
      { type: 'text', text: follow },
      { type: 'image', source: { media_type: 'image/png', data: base64(picture) } },
      { type: 'image', source: { media_type: 'image/gif', data: base64(picture) } },
    ])

    const gemini = await open('gemini')
    gemini.up.always((one) => one.error(400))
    await ask(gemini.model, gemini.request({ messages: shown }))
    expect(gemini.up.calls[0]?.body.contents.at(-1)).toEqual({
      role: 'user',
      parts: [{ text: follow }, { inlineData: { mimeType: 'image/png', data: base64(picture) } }],
    })
  },
)

verifies(
  'contract-25.tool-pictures',
  'providers that take no pictures, or no message behind a result, are sent none',
  async () => {
    const { up, model } = await scene()
    up.always(sayOk)
    for (const type of ['deepseek', 'mistral']) {
      const provider = { ...requestTo(up).provider, type }
      await ask(model, requestTo(up, { messages: shown, provider }))
      expect(up.calls.at(-1)?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'two' })
    }
  },
)

const given = [
  ...shown.slice(0, 2),
  {
    role: 'tool' as const,
    toolCallId: 'a',
    content: 'one two',
    segments: ['one ', part('image/png', picture), 'two', part('image/gif', picture)],
  },
  { role: 'tool' as const, toolCallId: 'b', content: 'three' },
]
const gone = '\n[A picture stood here that this model does not take: image/gif]\n'
const line = '[The output of the call a of look:]'

verifies(
  'contract-32.output-lists',
  'an output’s parts stand in the result where the wire takes them, else behind the turn’s results',
  async () => {
    const { up, model } = await scene()
    up.always(sayOk)
    await ask(model, requestTo(up, { messages: given }))
    expect(up.calls[0]?.body.messages.slice(-3)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one two' },
      { role: 'tool', tool_call_id: 'b', content: 'three' },
      {
        role: 'user',
        content: [
          { type: 'text', text: line },
          { type: 'image_url', image_url: { url: url('image/png') } },
          { type: 'image_url', image_url: { url: url('image/gif') } },
        ],
      },
    ])
    const provider = { ...requestTo(up).provider, type: 'deepseek' }
    await ask(model, requestTo(up, { messages: given, provider }))
    expect(up.calls.at(-1)?.body.messages.at(-2).content).toContain(`two${gone}`.trim())

    await ask(model, requestFor(up, { messages: given }))
    expect(up.calls.at(-1)?.body.input.slice(-2)).toEqual([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'one ' },
          { type: 'input_image', image_url: url('image/png'), detail: 'auto' },
          { type: 'input_text', text: 'two' },
          { type: 'input_image', image_url: url('image/gif'), detail: 'auto' },
        ],
      },
      { type: 'function_call_output', call_id: 'b', output: 'three' },
    ])

    const anthropic = await open('anthropic')
    anthropic.up.always((one) => one.error(400))
    await ask(anthropic.model, anthropic.request({ messages: given }))
    expect(anthropic.up.calls[0]?.body.messages.at(-1).content).toMatchObject([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'one ' },
          { type: 'image', source: { media_type: 'image/png', data: base64(picture) } },
          { type: 'text', text: 'two' },
          { type: 'image', source: { media_type: 'image/gif', data: base64(picture) } },
        ],
      },
      { type: 'tool_result', tool_use_id: 'b', content: 'three' },
    ])

    const gemini = await open('gemini')
    gemini.up.always((one) => one.error(400))
    await ask(gemini.model, gemini.request({ messages: given }))
    const { contents } = gemini.up.calls[0]?.body ?? {}
    expect(contents.at(-2).parts[0].functionResponse.response.output).toBe(`one two${gone}`)
    expect(contents.at(-1).parts).toMatchObject([{ text: line }, { inlineData: { data: base64(picture) } }])
  },
)
