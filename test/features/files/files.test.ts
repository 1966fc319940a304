/** Contract section 32: files are uploaded, listed, read and deleted. */
import { afterAll, expect } from 'vitest'
import { tidyFiles } from '../../../src/features/files/store/files.ts'
import { openScene } from '../../http/scene.ts'
import { createAgent } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { pngOf } from '../parts/routes/parts-scene.ts'
import { type Fields, formOf, secretOf, sendForm } from './files-scene.ts'

const scene = await openScene({
  settings: { MAX_FILE_BYTES: '300000', MAX_USER_FILE_BYTES: '400000', MAX_USER_BYTES: '350000' },
})
afterAll(scene.close)
const files = `${scene.agent}/deploy/files`
const ofAll = '/api/v1/openai/files'

const send = (path: string, body: FormData | string, headers: Fields = {}) => sendForm(scene, path, body, headers)
const upload = (content: Uint8Array | string, fields?: Fields, name?: string) =>
  send(files, formOf(content, fields, name))
const contents = async () => {
  const [row] = await scene.app.sql<{ n: number }[]>`select count(*)::int as n from part_contents`
  return row?.n
}

verifies('contract-32.files', 'a file is there with its bytes until it is deleted', async () => {
  const before = await contents()
  const bytes = Buffer.concat([Buffer.from('a,b\n'), Buffer.alloc(250_000, 'x')])
  const { status, json, headers } = await upload(bytes, { purpose: 'assistants', colour: 'red' }, 'a/b/table.csv')
  expect([status, headers.get('x-greenroom-ignored')]).toEqual([200, 'colour'])
  const file = {
    ...{ id: expect.stringMatching(/^file-[0-9a-f]{32}$/), object: 'file', bytes: 250_004, expires_at: null },
    ...{ created_at: expect.any(Number), filename: 'table.csv', purpose: 'assistants', status: 'processed' },
    ...{ media_type: 'text/csv', user: null },
  }
  expect(json).toEqual(file)
  expect((await scene.call('GET', `${files}/${json.id}`)).json).toEqual(json)
  expect((await scene.call('GET', `${ofAll}/${json.id}`)).json).toEqual(json)
  const content = await scene.call('GET', `${files}/${json.id}/content`)
  expect([content.text === bytes.toString(), content.headers.get('content-type')]).toEqual([
    true,
    'text/csv; charset=utf-8',
  ])
  expect(content.headers.get('content-disposition')).toContain('attachment; filename="table.csv"')
  const gone = await scene.call('DELETE', `${files}/${json.id}`)
  expect([gone.status, gone.json]).toEqual([200, { id: json.id, object: 'file', deleted: true }])
  for (const path of [json.id, `${json.id}/content`]) {
    const { status, json } = await scene.call('GET', `${files}/${path}`)
    expect([status, json.error.code]).toEqual([404, 'not_found'])
  }
  expect((await scene.call('DELETE', `${files}/${json.id}`)).status).toBe(404)
  expect(await contents()).toBe(before)
})

verifies('contract-32.files', 'lists are pages, of a purpose and a user', async () => {
  const ids: string[] = []
  for (const n of ['1', '2', '3']) ids.push((await upload(n, { user: 'lister', purpose: 'vision' })).json.id)
  expect((await upload('4', { user: 'lister' })).json.purpose).toBe('user_data')
  const list = async (query: string) => {
    const { json } = await scene.call('GET', `${files}?user=lister&${query}`)
    return [json.data?.map(({ id }: { id: string }) => id), json.has_more]
  }
  expect(await list('purpose=vision')).toEqual([[ids[2], ids[1], ids[0]], false])
  expect(await list('purpose=vision&limit=3')).toEqual([[ids[2], ids[1], ids[0]], false])
  expect(await list('purpose=vision&order=asc&limit=2')).toEqual([[ids[0], ids[1]], true])
  expect(await list(`purpose=vision&order=asc&limit=2&after=${ids[1]}`)).toEqual([[ids[2]], false])
  expect((await scene.call('GET', `${files}?after=file-1`)).status).toBe(400)
  expect((await scene.call('GET', `${files}?limit=1001`)).status).toBe(400)
})

verifies('contract-32.files-form', 'what is no upload is refused by its field', async () => {
  const before = await contents()
  const refused = async (form: FormData | string, headers?: Record<string, string>, path = files) => {
    const { status, json } = await send(path, form, headers)
    return [status, json.error.param]
  }
  expect(await refused(formOf(null))).toEqual([400, 'file'])
  expect(await refused(formOf(''))).toEqual([400, 'file'])
  const two = formOf('one')
  two.append('file', new File(['two'], 'two.txt'))
  expect(await refused(two)).toEqual([400, 'file'])
  expect(await refused(formOf('x', { purpose: 'fun' }))).toEqual([400, 'purpose'])
  expect(await refused(formOf('x', { user: '' }))).toEqual([400, 'user'])
  expect(await refused(formOf('x', { user: 'u'.repeat(201) }))).toEqual([400, 'user'])
  const after = (seconds: string, anchor = 'created_at') => ({
    'expires_after[anchor]': anchor,
    'expires_after[seconds]': seconds,
  })
  for (const fields of [{ 'expires_after[seconds]': '3600' }, after('3600', 'used_at')])
    expect(await refused(formOf('x', fields))).toEqual([400, 'expires_after[anchor]'])
  for (const seconds of ['3599', '2592001', '1e4', '']) {
    expect(await refused(formOf('x', after(seconds)))).toEqual([400, 'expires_after[seconds]'])
  }
  expect(await refused(formOf('x', { user: 'u' }), {}, ofAll)).toEqual([400, 'user'])
  expect(await refused('{}', { 'content-type': 'application/json' })).toEqual([415, null])
  const broken = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc'
  expect(await refused(broken, { 'content-type': 'multipart/form-data; boundary=x' })).toEqual([400, null])
  expect(await refused(broken, { 'content-type': 'multipart/form-data' })).toEqual([400, null])
  expect(await contents()).toBe(before)
})

verifies('contract-32.files-owners', 'a secret sees the files of its user alone', async () => {
  const anna = await secretOf(scene, 'anna')
  const mine = await send(files, formOf('mine'), anna)
  expect([mine.status, mine.json.user]).toEqual([200, 'anna'])
  expect((await send(files, formOf('x', { user: 'bert' }), anna)).status).toBe(403)
  const bert = await secretOf(scene, 'bert')
  const path = `${files}/${mine.json.id}`
  expect((await scene.call('GET', path, undefined, anna)).status).toBe(200)
  const unknown = await scene.call('GET', `${files}/file-${'0'.repeat(32)}`, undefined, bert)
  for (const [method, at] of [
    ['GET', path],
    ['GET', `${path}/content`],
    ['DELETE', path],
  ] as const) {
    const { status, json } = await scene.call(method, at, undefined, bert)
    expect([status, json]).toEqual([404, unknown.json])
  }
  expect((await scene.call('GET', files, undefined, bert)).json.data).toEqual([])
  expect((await scene.call('GET', ofAll, undefined, anna)).status).toBe(403)
})

verifies('contract-32.files-types', 'the bytes tell the type', async () => {
  const typeOf = async (content: Uint8Array | string, name: string) => {
    const { status, json } = await upload(content, {}, name)
    return status === 200 ? json.media_type : [status, json.error.param]
  }
  expect(await typeOf(pngOf(5000), 'a.txt')).toBe('image/png')
  expect(await typeOf('%PDF-1.7\n', 'a.png')).toBe('application/pdf')
  expect(await typeOf('# a', 'a.MD')).toBe('text/markdown')
  expect(await typeOf('ä', 'a.exe')).toBe('text/plain')
  expect(await typeOf('a\0', 'a.txt')).toEqual([400, 'file'])
  expect(await typeOf(Buffer.from([0x61, 0xc3]), 'a.txt')).toEqual([400, 'file'])
  expect(await typeOf(Buffer.from('PK\x03\x04xxxx\x80', 'latin1'), 'a.zip')).toEqual([400, 'file'])
})

verifies('contract-32.files-size', 'too large a file, or too much of a user, is 413', async () => {
  const before = await contents()
  expect((await upload('x'.repeat(300_001), { user: 'large' })).status).toBe(413)
  expect(await contents()).toBe(before)
  expect((await upload('x'.repeat(300_000), { user: 'large' })).status).toBe(200)
  const full = await upload('x'.repeat(50_001), { user: 'large' })
  expect([full.status, full.json.error.message]).toEqual([413, expect.stringContaining('MAX_USER_BYTES')])
  // Nobody's files have a limit of their own with each agent, and with none.
  for (const path of [files, ofAll]) {
    const nobodys = await Promise.all(Array.from({ length: 4 }, () => send(path, formOf('x'.repeat(150_000)))))
    expect(nobodys.map(({ status }) => status).sort()).toEqual([200, 200, 413, 413])
  }
})

verifies('contract-32.files-end', 'an expired file is unknown, and goes with its bytes', async () => {
  const after = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }
  const { json } = await upload('short', { ...after, user: 'late' })
  expect(json.expires_at - json.created_at).toBe(3600)
  await scene.app.sql`update files set expires_at = clock_timestamp() where end_user = 'late'`
  expect((await scene.call('GET', `${files}/${json.id}`)).status).toBe(404)
  expect((await scene.call('GET', `${files}?user=late`)).json.data).toEqual([])
})

verifies('contract-32.files-size', 'a user has at most 1,000 files', async () => {
  await upload('first', { user: 'many' })
  await scene.app.sql`
    insert into files (id, agent_id, end_user, filename, purpose, media_type, size, sha256, stored_as)
    select gen_random_uuid(), agent_id, end_user, filename, purpose, media_type, 0, sha256, stored_as
      from files cross join generate_series(1, 999) where end_user = 'many'`
  expect((await upload('one more', { user: 'many' })).status).toBe(413)
})

verifies(
  'contract-32.files-end',
  'a file that nobody used goes after the retention, one with an end at its end',
  async () => {
    await tidyFiles(scene.app.sql, null)
    const before = (await contents()) ?? 0
    const after = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }
    const ids = [await upload('unused', { user: 'rita' }), await upload('ends', { ...after, user: 'rita' })]
    await scene.app.sql`update files set used_at = clock_timestamp() - interval '3 days' where end_user = 'rita'`
    const left = async () =>
      (await scene.call('GET', `${files}?user=rita`)).json.data.map(({ id }: { id: string }) => id)
    await tidyFiles(scene.app.sql, null)
    expect(await left()).toHaveLength(2)
    await tidyFiles(scene.app.sql, 2)
    expect([await left(), await contents()]).toEqual([[ids[1]?.json.id], before + 1])
    await scene.app.sql`update files set expires_at = clock_timestamp() where end_user = 'rita'`
    await tidyFiles(scene.app.sql, null)
    expect(await contents()).toBe(before)
  },
)

verifies('contract-32.files-form', 'a key of several agents names the agent of its file', async () => {
  const other = (await createAgent(scene.app, { type: 'demo' })).agentId
  const made = async (agentIds: string[]) =>
    (await scene.call('POST', '/api/v1/keys', { name: String(agentIds.length), scopes: ['deploy'], agentIds })).json.key
  const [one, both] = [await made([scene.agentId]), await made([scene.agentId, other])]
  const sent = async (key: string, fields?: Fields) => {
    const { status, json } = await send(ofAll, formOf('mine', fields), { authorization: `Bearer ${key}` })
    return [status, json.error?.message ?? null]
  }
  expect(await sent(one)).toEqual([200, null])
  expect(await sent(both)).toEqual([400, expect.stringContaining('model')])
  expect(await sent(both, { model: other })).toEqual([200, null])
  const agentless = (await send(ofAll, formOf('of none'))).json.id
  const seen = async (headers: Fields) => {
    const { data } = (await scene.call('GET', `${ofAll}?limit=1000`, undefined, headers)).json
    const { status } = await scene.call('GET', `${ofAll}/${agentless}`, undefined, headers)
    return [data.some(({ id }: { id: string }) => id === agentless), status]
  }
  expect([await seen({}), await seen({ authorization: `Bearer ${both}` })]).toEqual([
    [true, 200],
    [false, 404],
  ])
})

verifies('contract-32.files-end', 'a user’s export and deletion have the files', async () => {
  const before = await contents()
  await upload('expired', { user: 'carl' })
  await scene.app.sql`update files set expires_at = clock_timestamp() where end_user = 'carl'`
  const { json } = await upload('of carl', { user: 'carl' })
  const of = `${scene.agent}/deploy/users/carl`
  expect(JSON.parse((await scene.call('GET', `${of}/export`)).text)).toEqual(json)
  expect((await scene.call('DELETE', of)).status).toBe(204)
  expect((await scene.call('GET', `${files}/${json.id}`)).status).toBe(404)
  expect(await contents()).toBe(before)
})
