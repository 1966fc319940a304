/** Contract section 13: pictures and files in messages, over the wire. */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { createAgent } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'
import { dataUrl, file, image, pdf, png, text } from './parts-scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['ok'])

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const sentMessages = () => scene.up.calls.at(-1)?.body.messages
const completions = (id: string) => `${scene.sessions}/${id}/chat/completions`

/** What the agent's provider is sent of a message. */
const mixed = [text('Before '), image(), text('between'), file(pdf(), 'application/pdf', 'a.pdf'), text(' after')]
const mixedSent = [
  { type: 'text', text: 'Before ' },
  { type: 'image_url', image_url: { url: dataUrl('image/png', png()) } },
  { type: 'text', text: 'between' },
  { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', pdf()) } },
  { type: 'text', text: ' after' },
]

verifies('contract-13.parts', 'they reach the model in their order, from every endpoint', async () => {
  const session = await scene.newSession()
  const uiSession = crypto.randomUUID()
  const ways: [string, string, object][] = [
    ['session', completions(session), user(...mixed)],
    ['stateless', `${scene.agent}/deploy/chat/completions`, user(...mixed)],
    ['agents as models', '/api/v1/openai/chat/completions', { ...user(...mixed), model: scene.agentId }],
    ['playground', `${scene.agent}/playground/chat`, { message: mixed }],
    [
      'AI SDK',
      `${scene.agent}/deploy/ai-sdk`,
      {
        id: uiSession,
        messages: [
          {
            role: 'user',
            parts: [
              text('Before '),
              { type: 'file', mediaType: 'image/png', url: dataUrl('image/png', png()) },
              text('between'),
              { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', url: dataUrl('application/pdf', pdf()) },
              text(' after'),
            ],
          },
        ],
      },
    ],
  ]
  for (const [name, path, body] of ways) {
    const answer = await scene.call('POST', path, body)
    expect([name, answer.status, answer.headers.get('x-greenroom-ignored')]).toEqual([name, 200, null])
    expect([name, sentMessages().at(-1)]).toEqual([name, { role: 'user', content: mixedSent }])
  }
  const ui = await scene.call('GET', `${scene.agent}/deploy/ai-sdk/${uiSession}/messages`)
  const url = (n: number) => `${scene.sessions}/${uiSession}/messages/${ui.json.messages[0].id}/parts/${n}`
  expect(ui.json.messages[0].parts).toEqual([
    text('Before '),
    { type: 'file', mediaType: 'image/png', url: url(0) },
    text('between'),
    { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', url: url(1) },
    text(' after'),
  ])
})

verifies(
  ['contract-13.parts', 'contract-13.part-storage'],
  'messages carry them, and their bytes are read at url',
  async () => {
    const id = await scene.newSession()
    await scene.call(
      'POST',
      completions(id),
      user(...mixed, file(Buffer.from('a;b\n'), 'TEXT/CSV; charset=utf-8', '../../x\u202e/ä "1".csv')),
    )
    const [message, reply] = await scene.messages(id)
    const path = `${scene.sessions}/${id}/messages/${message.id}/parts`
    expect([message.content, reply.parts]).toEqual(['Before between after', undefined])
    expect(message.parts).toEqual([
      { type: 'image_url', url: `${path}/0`, media_type: 'image/png', filename: null, size: png().length },
      { type: 'file', url: `${path}/1`, media_type: 'application/pdf', filename: 'a.pdf', size: pdf().length },
      { type: 'file', url: `${path}/2`, media_type: 'text/csv', filename: 'ä _1_.csv', size: 4 },
    ])
    const read = await fetch(`${scene.app.url}${path}/0`)
    expect(Buffer.from(await read.arrayBuffer())).toEqual(png())
    const named = await fetch(`${scene.app.url}${path}/2`)
    const headers = [
      'content-type',
      'content-length',
      'content-disposition',
      'x-content-type-options',
      'content-security-policy',
      'vary',
    ]
    expect(headers.map((name) => named.headers.get(name))).toEqual([
      'text/csv; charset=utf-8',
      '4',
      `attachment; filename="_ _1_.csv"; filename*=UTF-8''%C3%A4%20_1_.csv`,
      'nosniff',
      "default-src 'none'; sandbox",
      'Origin', // it is cached, and a page of a listed origin needs an answer of its own
    ])
    const playground = await scene.call('GET', `${scene.agent}/playground/sessions/${id}/messages`)
    const shown = `${scene.agent}/playground/sessions/${id}/messages/${message.id}/parts/1`
    expect(playground.json.messages[0].parts[1]).toEqual({
      type: 'file',
      url: shown,
      mediaType: 'application/pdf',
      filename: 'a.pdf',
      size: pdf().length,
    })
    expect(await (await fetch(`${scene.app.url}${shown}`)).text()).toBe(pdf().toString())
    const others = [
      `${path}/3`,
      `${path}/-1`,
      `${path}/x`,
      `${path.replace(message.id, reply.id)}/0`,
      `${path.replace(id, await scene.newSession())}/0`,
    ]
    for (const other of others) expect([other, (await scene.call('GET', other)).status]).toEqual([other, 404])
  },
)

verifies(
  'contract-13.parts',
  'a message may be parts alone, and a text file reaches providers that know none as text',
  async () => {
    const id = await scene.newSession()
    const answer = await scene.call(
      'POST',
      completions(id),
      user(file(Buffer.from('A "quoted"\nline \u00e4'), 'text/markdown', 'notes.md')),
    )
    expect(answer.status).toBe(200)
    expect(sentMessages()).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'The file notes.md (text/markdown):\n\nA "quoted"\nline ä' }] },
    ])
    expect((await scene.messages(id))[0]).toMatchObject({ content: '', parts: [{ filename: 'notes.md' }] })
  },
)

verifies('contract-13.part-refusals', 'what is no part that is taken is 400 and names the field', async () => {
  const url = (value: unknown, extra = {}) => ({ type: 'image_url', image_url: { url: value, ...extra } })
  const data = (value: unknown, extra = {}) => ({ type: 'file', file: { file_data: value, ...extra } })
  const base64 = png().toString('base64')
  const image = 'image_url.url'
  const wrong: [object | string, string][] = [
    [{ type: 'input_audio', input_audio: {} }, ''],
    [{ type: 'text' }, ''],
    ['text', ''],
    [{ type: 'image_url' }, 'image_url'],
    [{ type: 'image_url', image_url: dataUrl('image/png', png()) }, 'image_url'],
    [url(undefined), image],
    [url(5), image],
    [url(base64), image],
    [url(`data:image/png,${base64}`), image],
    [url(`data:image/png;base64,${base64}!`), image],
    [url(`data:image/png;base64,${base64.slice(0, -1)}`), image],
    [url(`data:image/png;base64,${base64.replace('+', '-')}_`), image],
    [url(`data:image/png;base64,==${base64}`), image],
    [url('data:image/png;base64,'), image],
    [url(`data:;base64,${base64}`), image],
    [url(dataUrl('image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))), image],
    [url(dataUrl('image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))), image],
    [url(dataUrl('image/jpeg', png())), image],
    [url(dataUrl('application/pdf', pdf())), image],
    [url('http://example.com/a.png'), image],
    [url('file:///etc/passwd'), image],
    [url('https://user:pw@example.com/a.png'), image],
    [url(dataUrl('image/png', png()), { detail: 'much' }), 'image_url.detail'],
    [{ type: 'file' }, 'file'],
    [data(pdf().toString('base64')), 'file.file_data'],
    [data('https://example.com/a.pdf'), 'file.file_data'],
    [data(dataUrl('application/pdf', png())), 'file.file_data'],
    [data(dataUrl('image/png', png())), 'file.file_data'],
    [data(dataUrl('text/html', Buffer.from('<p>'))), 'file.file_data'],
    [data(dataUrl('text/plain', Buffer.from([0x66, 0xff]))), 'file.file_data'],
    [data(dataUrl('text/plain', Buffer.from('a\0b'))), 'file.file_data'],
    [data(dataUrl('application/pdf', pdf()), { filename: 5 }), 'file.filename'],
    [{ type: 'file', file: { file_id: 'file-1' } }, 'file.file_id'],
  ]
  const calls = scene.up.calls.length
  const id = await scene.newSession()
  for (const [part, field] of wrong) {
    for (const path of [completions(id), `${scene.agent}/deploy/chat/completions`]) {
      const answer = await scene.call('POST', path, { messages: [{ role: 'user', content: [text('a'), part] }] })
      const param = `messages.0.content.1${field === '' ? '' : `.${field}`}`
      const shown = JSON.stringify(part).slice(0, 120)
      expect([shown, answer.status, answer.json.error]).toEqual([
        shown,
        400,
        { message: expect.stringContaining(param), type: 'invalid_request_error', code: 'invalid_request', param },
      ])
    }
  }
  const assistant = await scene.stateless([
    { role: 'assistant', content: [image_] },
    { role: 'user', content: 'a' },
  ])
  expect([assistant.status, assistant.json.error.param]).toEqual([400, 'messages.0.content.0'])
  expect([scene.up.calls.length - calls, await scene.messages(id)]).toEqual([0, []])
})

const image_ = image()

verifies(
  'contract-13.part-refusals',
  'types are compared without case, aliases and parameters are taken, escapes too',
  async () => {
    const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')
    const gif = Buffer.from(
      '4749463839610100010080000000000000000021f90401000000002c00000000010001000002024401003b',
      'hex',
    )
    const webp = Buffer.concat([Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f', 'latin1'), Buffer.alloc(12)])
    const taken: [string, Buffer, string][] = [
      ['IMAGE/PNG', png(), 'image/png'],
      ['image/jpg', jpeg, 'image/jpeg'],
      ['image/jpeg;foo=bar', jpeg, 'image/jpeg'],
      ['image/gif', gif, 'image/gif'],
      ['image/webp', webp, 'image/webp'],
    ]
    for (const [mediaType, bytes, shown] of taken) {
      const answer = await scene.stateless([{ role: 'user', content: [image(bytes, mediaType)] }])
      expect([mediaType, answer.status, sentMessages()[0].content[0].image_url.url]).toEqual([
        mediaType,
        200,
        dataUrl(shown, bytes),
      ])
    }
    // As PHP and .NET write them.
    const bytes = Buffer.concat([png(), Buffer.from([0xff, 0xff, 0xfb, 0xef, 0xbe, 0xff])])
    const body = JSON.stringify(user(image(bytes)))
      .replaceAll('/', '\\/')
      .replaceAll('+', '\\u002B')
    expect(body).toContain('\\u002B')
    expect((await scene.call('POST', `${scene.agent}/deploy/chat/completions`, body)).status).toBe(200)
    expect(sentMessages()[0].content[0].image_url.url).toBe(dataUrl('image/png', bytes))
  },
)

verifies('contract-13.part-providers', 'a provider that takes no such part: 400 that names the agent', async () => {
  const { agentId } = await createAgent(scene.app, { type: 'deepseek', baseUrl: scene.up.url, name: 'No eyes' })
  for (const part of [image(), { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]) {
    const answer = await scene.call('POST', `/api/v1/agents/${agentId}/deploy/chat/completions`, user(part))
    expect([answer.status, answer.json.error.param]).toEqual([400, 'messages'])
    expect(answer.json.error.message).toContain('No eyes')
  }
})
