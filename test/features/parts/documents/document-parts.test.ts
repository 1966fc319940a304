/** Contract section 32: Word and Excel documents in messages and as files. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeEach, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { createAgent } from '../../../support/app.ts'
import { verifies } from '../../../verifies.ts'
import { formOf, sendForm } from '../../files/files-scene.ts'
import { dataUrl, file } from '../routes/parts-scene.ts'
import { EXCEL, excel, paragraph, WORD, word } from './made-documents.ts'

const scene = await openScene({ settings: {} })
afterAll(scene.close)
beforeEach(() => scene.says(['ok']))

const { agent, call } = scene
const files = `${agent}/deploy/files`
const responses = `${agent}/deploy/responses`
const document = word(paragraph('Read this'))
const sheet = excel([{ name: 'One', rows: '<row><c r="B1"><v>2</v></c></row>' }])
const upload = (content: Buffer, name: string) => sendForm(scene, files, formOf(content, {}, name))
const ask = (part: object, more: object = {}) =>
  call('POST', responses, { input: [{ role: 'user', content: [part] }], ...more })
const sentOf = (at: number) => scene.up.calls.at(-1)?.body.messages.at(at).content
const seen = (name: string, text: string) => [{ type: 'text', text: `The file ${name} (text/plain):\n\n${text}` }]
const stored = async () => {
  const [row] = await scene.app.sql<{ contents: number; texts: number }[]>`
    select (select count(*)::int from part_contents) as contents, (select count(*)::int from part_texts) as texts`
  return row
}

verifies('contract-32.documents', 'a file is of the type that it holds, and is sent as its text', async () => {
  const before = await stored()
  const [first, second] = [await upload(document, 'a.bin'), await upload(sheet, 'b.docx')]
  expect([first.json.media_type, second.json.media_type]).toEqual([WORD, EXCEL])
  const made = await ask({ type: 'input_file', file_id: first.json.id })
  expect([made.status, sentOf(-1)]).toEqual([200, seen('a.bin', 'Read this\n')])
  await ask({ type: 'input_file', file_id: second.json.id }, { previous_response_id: made.json.id })
  expect([sentOf(0), sentOf(-1)]).toEqual([seen('a.bin', 'Read this\n'), seen('b.docx', '# One\n,2\n')])
  expect((await ask({ type: 'input_file', file_id: second.json.id }, { store: false })).status).toBe(200)
  expect(sentOf(-1)).toEqual(seen('b.docx', '# One\n,2\n'))
  const content = await fetch(`${scene.app.url}${files}/${first.json.id}/content`)
  expect(Buffer.from(await content.arrayBuffer())).toEqual(document)
  await call('DELETE', `${files}/${first.json.id}`)
  await call('POST', responses, { input: 'again', previous_response_id: made.json.id })
  expect(sentOf(0)).toEqual(seen('a.bin', 'Read this\n'))
  const session = made.json.conversation.id.replace(/^conv_/, '')
  await call('DELETE', `${files}/${second.json.id}`)
  await call('DELETE', `${scene.sessions}/${session.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`)
  expect(await stored()).toEqual(before)
})

verifies('contract-32.documents', 'bytes in place are converted once for each content', async () => {
  const id = await scene.newSession()
  const completions = `${scene.sessions}/${id}/chat/completions`
  const message = { messages: [{ role: 'user', content: [file(document, WORD, 'a.docx')] }] }
  for (const path of [`${agent}/deploy/chat/completions`, completions]) {
    expect((await call('POST', path, message)).status).toBe(200)
    expect(sentOf(-1)).toEqual(seen('a.docx', 'Read this\n'))
  }
  const [{ parts }] = await scene.messages(id)
  expect(parts).toMatchObject([{ media_type: WORD, filename: 'a.docx', size: document.length }])
  let processes = 0
  const count = () => {
    processes += 1
  }
  subscribe('child_process', count)
  expect((await call('POST', completions, message)).status).toBe(200)
  unsubscribe('child_process', count)
  expect([processes, sentOf(-1)]).toEqual([0, seen('a.docx', 'Read this\n')])
})

verifies('contract-32.input-tokens', 'a document counts with its text, and a broken one is refused', async () => {
  const count = async (bytes: Buffer, mediaType: string) => {
    const part = { type: 'input_file', filename: 'a.docx', file_data: dataUrl(mediaType, bytes) }
    return await call('POST', `${responses}/input_tokens`, { input: [{ role: 'user', content: [part] }] })
  }
  const long = 'words and words '.repeat(1000)
  const [asWord, asText] = [await count(word(paragraph(long)), WORD), await count(Buffer.from(long), 'text/plain')]
  expect(Math.abs(asWord.json.input_tokens - asText.json.input_tokens)).toBeLessThan(10)
  expect((await count(document.subarray(0, -30), WORD)).status).toBe(400)
})

verifies('contract-32.documents', 'a provider that takes text alone takes them', async () => {
  const { agentId } = await createAgent(scene.app, { type: 'deepseek', baseUrl: scene.up.url, name: 'Text alone' })
  const message = { messages: [{ role: 'user', content: [file(sheet, EXCEL, 'b.xlsx')] }] }
  expect((await call('POST', `/api/v1/agents/${agentId}/deploy/chat/completions`, message)).status).toBe(200)
  expect(JSON.stringify(sentOf(-1))).toContain('# One')
})

verifies(
  'contract-32.broken-documents',
  'what cannot be read is 400 that names the field, and nothing is stored',
  async () => {
    const before = await stored()
    const cut = document.subarray(0, -30)
    const uploaded = await upload(cut, 'a.docx')
    expect([uploaded.status, uploaded.json.error.param, uploaded.json.error.message]).toEqual([
      400,
      'file',
      'file: is a broken document',
    ])
    const inPlace = async (bytes: Buffer, mediaType: string, more?: object) => {
      const part = { type: 'input_file', filename: 'a.docx', file_data: dataUrl(mediaType, bytes) }
      const { status, json } = await ask(part, more)
      return [status, json.error?.param, json.error?.message]
    }
    const field = 'input.0.content.0.file_data'
    for (const more of [{}, { store: false }]) {
      expect(await inPlace(cut, WORD, more)).toEqual([400, field, `${field}: is a broken document`])
      expect(await inPlace(sheet, WORD, more)).toEqual([400, field, `${field}: is ${EXCEL}`])
      expect(await inPlace(Buffer.from('text'), WORD, more)).toEqual([400, field, `${field}: is not ${WORD}`])
    }
    expect(await stored()).toEqual(before)
  },
)
