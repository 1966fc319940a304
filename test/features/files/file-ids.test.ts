/** Contract section 32: messages name uploaded files by their ids. */
import { afterAll, beforeEach, expect } from 'vitest'
import { openScene } from '../../http/scene.ts'
import { createAgent } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { dataUrl, file, pdf, png, pngOf, text } from '../parts/routes/parts-scene.ts'
import { type Fields, formOf, secretOf, sendForm } from './files-scene.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)
beforeEach(() => scene.says(['ok']))

const { agent, call } = scene
const files = `${agent}/deploy/files`
const responses = `${agent}/deploy/responses`
const upload = async (content: Uint8Array | string, name = 'a.pdf', fields: Fields = {}, path = files) =>
  (await sendForm(scene, path, formOf(content, fields, name))).json.id
const sentLast = () => scene.up.calls.at(-1)?.body.messages.at(-1).content
const ask = (content: object[], more: object = {}, headers: Fields = {}) =>
  call('POST', responses, { input: [{ role: 'user', content }], ...more }, headers)
const chat = (id: string) => ({ type: 'file', file: { file_id: id } })
const contents = async () => {
  const [row] = await scene.app.sql<{ n: number }[]>`select count(*)::int as n from part_contents`
  return row?.n
}
const refusalOf = ({ status, json }: { status: number; json: { error: { param: string; message: string } } }) => [
  status,
  json.error.param,
  json.error.message,
]

verifies('contract-32.file-ids', 'a message is as if the bytes had been sent in place, and copies none', async () => {
  const document = await upload(pdf())
  const picture = await upload(png(), 'b.png', { purpose: 'vision' })
  const before = await contents()
  const seen = [
    text('Read '),
    { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', pdf()) } },
    { type: 'image_url', image_url: { url: dataUrl('image/png', png()), detail: 'low' } },
  ]
  const content = [
    { type: 'input_text', text: 'Read ' },
    { type: 'input_file', file_id: document },
    { type: 'input_image', file_id: picture, detail: 'low' },
  ]
  const first = await ask(content)
  expect([first.status, sentLast()]).toEqual([200, seen])
  expect((await ask(content, { store: false })).status).toBe(200)
  expect(sentLast()).toEqual(seen)
  expect(await contents()).toBe(before)
  const { data } = (await call('GET', `${responses}/${first.json.id}/input_items`)).json
  expect(data[0].content.map(({ type }: { type: string }) => type)).toEqual(['input_text', 'input_file', 'input_image'])
  const counted = await call('POST', `${responses}/input_tokens`, { input: [{ role: 'user', content }] })
  expect(counted.status).toBe(200)
})

verifies('contract-32.file-ids', 'chat completions take them, and a retry with the bytes in place joins', async () => {
  const id = await upload(pdf())
  const seen = [{ type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', pdf()) } }]
  const session = await scene.newSession()
  const completions = `${scene.sessions}/${session}/chat/completions`
  const bare = id.slice('file-'.length)
  const uuid = bare.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  for (const path of [completions, `${agent}/deploy/chat/completions`]) {
    const answer = await call('POST', path, { messages: [{ role: 'user', content: [chat(uuid)] }] })
    expect([path, answer.status, sentLast()]).toEqual([path, 200, seen])
  }
  const [message] = await scene.messages(session)
  expect(message.parts).toMatchObject([{ type: 'file', filename: 'a.pdf', media_type: 'application/pdf' }])
  const next = scene.byHand()
  const named = { messages: [{ role: 'user', content: [chat(id)] }] }
  const stream = await scene.stream(session, '', named)
  const up = await next
  const inPlace = { messages: [{ role: 'user', content: [file(pdf(), 'application/pdf', 'a.pdf')] }] }
  const retry = { 'x-stainless-retry-count': '1' }
  for (const again of [inPlace, named]) expect((await scene.stream(session, '', again, retry)).status).toBe(200)
  await up.finish()
  await stream.rest()
})

verifies(
  'contract-32.file-ids',
  'what may not be used is 400 that names the field, and nothing is stored',
  async () => {
    const [document, picture] = [await upload(pdf()), await upload(png(), 'b.png')]
    const { agentId } = await createAgent(scene.app, { type: 'openai', baseUrl: scene.up.url, name: 'Other' })
    const others = await upload(pdf(), 'a.pdf', {}, `/api/v1/agents/${agentId}/deploy/files`)
    const expired = await upload(pdf())
    const uuid = expired.slice('file-'.length)
    await scene.app.sql`update files set expires_at = clock_timestamp() where id = ${uuid}`
    const before = await scene.app.sql`select count(*) from messages`
    const refused = async (part: object) => refusalOf(await ask([part]))
    const unknown = await refused({ type: 'input_file', file_id: `file-${'0'.repeat(32)}` })
    expect(unknown.slice(0, 2)).toEqual([400, 'input.0.content.0.file_id'])
    for (const id of [others, expired, 'file-1', '']) {
      expect(await refused({ type: 'input_file', file_id: id })).toEqual(unknown)
    }
    const at = (field: string) => [400, field, expect.any(String)]
    const wrong: [object, string][] = [
      [{ type: 'input_file', file_id: picture }, 'file_id'],
      [{ type: 'input_image', file_id: document }, 'file_id'],
      [{ type: 'input_file', file_id: 5 }, 'file_id'],
      [{ type: 'input_file', file_id: document, file_data: dataUrl('application/pdf', pdf()) }, 'file_id'],
      [{ type: 'input_file', file_id: document, file_url: 'https://example.com/a.pdf' }, 'file_url'],
      [{ type: 'input_image', file_id: picture, image_url: dataUrl('image/png', png()) }, 'file_id'],
    ]
    for (const [part, field] of wrong) expect(await refused(part)).toEqual(at(`input.0.content.0.${field}`))
    const both = { type: 'file', file: { file_id: document, file_data: dataUrl('application/pdf', pdf()) } }
    const completion = { messages: [{ role: 'user', content: [both] }] }
    const field = at('messages.0.content.0.file.file_id')
    expect(refusalOf(await call('POST', `${agent}/deploy/chat/completions`, completion))).toEqual(field)
    expect(await scene.app.sql`select count(*) from messages`).toEqual(before)
  },
)

verifies(
  'contract-32.file-ids',
  'a file of another user is unknown to a client secret, one of no agent too',
  async () => {
    const [annas, nobodys] = [await upload(pdf(), 'a.pdf', { user: 'anna' }), await upload(pdf(), 'n.pdf')]
    const ofNone = await upload(pdf(), 'z.pdf', {}, '/api/v1/openai/files')
    const [anna, bert] = [await secretOf(scene, 'anna'), await secretOf(scene, 'bert')]
    const status = async (id: string, headers?: Fields) =>
      (await ask([{ type: 'input_file', file_id: id }], {}, headers)).status
    expect(await Promise.all([annas, nobodys, ofNone].map((id) => status(id, anna)))).toEqual([200, 400, 400])
    expect(await status(annas, bert)).toBe(400)
    expect(await Promise.all([annas, nobodys, ofNone].map((id) => status(id)))).toEqual([200, 200, 200])
  },
)

verifies('contract-32.file-ids', 'a key of one agent takes no file of no agent', async () => {
  const ofNone = await upload(pdf(), 'z.pdf', {}, '/api/v1/openai/files')
  const made = (name: string, agentIds: string[] | null) =>
    call('POST', '/api/v1/keys', { name, scopes: ['deploy'], agentIds })
  const [one, all] = [await made('one', [scene.agentId]), await made('all', null)]
  const status = async ({ json }: { json: { key: string } }) =>
    (await ask([{ type: 'input_file', file_id: ofNone }], {}, { authorization: `Bearer ${json.key}` })).status
  expect([await status(one), await status(all)]).toEqual([400, 200])
})

verifies('contract-32.file-ids', 'the use of a file in a message is noted', async () => {
  const id = await upload(pdf())
  const uuid = id.slice('file-'.length)
  await scene.app.sql`update files set used_at = clock_timestamp() - interval '3 days' where id = ${uuid}`
  expect((await ask([{ type: 'input_file', file_id: id }])).status).toBe(200)
  const [row] = await scene.app
    .sql`select used_at > clock_timestamp() - interval '1 hour' as used from files where id = ${uuid}`
  expect(row?.used).toBe(true)
  const usedAt = async () => {
    const [{ used } = { used: null }] = await scene.app.sql`select used_at::text as used from files where id = ${uuid}`
    return used
  }
  const noted = await usedAt()
  await ask([{ type: 'input_file', file_id: id }])
  expect(await usedAt(), 'once an hour').toBe(noted)
})

verifies('contract-32.file-ids', 'a message keeps the bytes of a file that is deleted', async () => {
  const id = await upload(pdf('kept'), 'k.pdf')
  const before = await contents()
  const first = await ask([{ type: 'input_file', file_id: id }])
  expect((await call('DELETE', `${files}/${id}`)).status).toBe(200)
  expect(await contents()).toBe(before)
  await call('POST', responses, { input: 'again', previous_response_id: first.json.id })
  const [question] = scene.up.calls.at(-1)?.body.messages ?? []
  expect(question.content[0].file.file_data).toBe(dataUrl('application/pdf', pdf('kept')))
  expect((await call('DELETE', `${agent}/deploy/sessions/${sessionIn(first.json)}`)).status).toBe(204)
  expect(await contents()).toBe((before ?? 0) - 1)
})

verifies(
  'contract-32.file-ids',
  'files that earlier messages of an input name do not count, those of the newest do',
  async () => {
    const id = await upload(pngOf(11 * 2 ** 20), 'half.png')
    const named = { type: 'input_image', file_id: id }
    const turns = (content: object[]) => ({ role: 'user', content })
    const said = { role: 'assistant', content: 'a' }
    const history = [turns([named]), said, turns([named]), said, turns([named])]
    expect((await call('POST', responses, { input: history })).status).toBe(200)
    expect((await call('POST', responses, { input: [turns([named, named])] })).status).toBe(413)
  },
)

verifies('contract-32.file-ids', 'a file above what a message may hold is 413', async () => {
  const id = await upload(pngOf(20 * 2 ** 20 + 1), 'large.png')
  const { status } = await ask([{ type: 'input_image', file_id: id }])
  expect(status).toBe(413)
})

const sessionIn = ({ conversation }: { conversation: { id: string } }) =>
  conversation.id.replace(/^conv_/, '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
