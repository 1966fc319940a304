/** Contract section 25, "Two editors", for every record that is changed by PUT. */
import { afterAll, expect } from 'vitest'
import { tags } from '../../../../openapi/contract.ts'
import type { Operation } from '../../../../openapi/operation.ts'
import { createAgent, patient, startTestApp } from '../../../support/app.ts'
import { freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'

const database = await freshDatabase()
const here = await startTestApp({ database, settings: patient })
const there = await startTestApp({ database, settings: patient })
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()])
  await database.drop()
})
const { agentId } = await createAgent(here, { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9' })

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, app = here) =>
  call(`${app.url}${path}`, method, body, headers)
const made = async (path: string, body: object) => {
  const answer = await ask('POST', path, body)
  expect([path, answer.status]).toEqual([path, 201])
  return `${path}/${answer.json.id}`
}
const tool = { name: 'look', description: 'Looks.', method: 'GET', url: 'https://x.example' }

/** Each record, with two changes of one field. */
const records: [path: string, field: string, one: unknown, other: unknown][] = [
  [`/api/v1/agents/${agentId}`, 'name', 'One', 'Other'],
  [`/api/v1/agents/${agentId}/tools`, 'approvals', ['a'], '*'],
  [await made('/api/v1/prompts', { name: 'p', content: 'x' }), 'content', 'one', 'other'],
  [await made('/api/v1/http-tools', tool), 'description', 'One.', 'Other.'],
  [
    await made('/api/v1/mcp-servers', { name: 'm', transport: 'streamable_http', url: 'https://x.example' }),
    'name',
    'One',
    'Other',
  ],
  [
    await made('/api/v1/settings/providers', { name: 'q', providerType: 'openai', apiKey: 'k' }),
    'name',
    'One',
    'Other',
  ],
  [await made('/api/v1/keys', { name: 'k', scopes: ['deploy'] }), 'name', 'One', 'Other'],
  [
    await made('/api/v1/webhooks', { name: 'w', url: 'https://x.example', events: ['reply.failed'] }),
    'name',
    'One',
    'Other',
  ],
  ['/api/v1/settings/prices', 'prices', [{ model: 'm', prompt: 1, completion: 1 }], []],
]

verifies(
  'contract-25.two-editors',
  'a PUT with an older tag is 412 that names the field, and changes nothing',
  async () => {
    for (const [path, field, one, other] of records) {
      const read = await ask('GET', path)
      const tag = read.headers.get('etag') ?? ''
      const held = { 'if-match': tag }
      const first = await ask('PUT', path, { ...same(path, read.json), [field]: one }, held, there)
      expect([path, first.status]).toEqual([path, 200])
      expect(first.headers.get('etag')).not.toBe(tag)
      expect((await ask('GET', path)).headers.get('etag')).toBe(first.headers.get('etag'))
      const second = await ask('PUT', path, { ...same(path, read.json), [field]: other }, held)
      expect([path, second.status, second.json]).toEqual([
        path,
        412,
        { message: expect.stringContaining(` ${field}.`) },
      ])
      expect((await ask('GET', path)).json).toEqual(first.json)
      // With the tag that it has now, with any, and without one it is as before.
      const now = { 'if-match': `"x", ${first.headers.get('etag')}` }
      expect((await ask('PUT', path, { ...same(path, read.json), [field]: other }, now)).status).toBe(200)
      expect((await ask('PUT', path, { ...same(path, read.json), [field]: one }, { 'if-match': '*' })).status).toBe(200)
      expect((await ask('PUT', path, { ...same(path, read.json), [field]: other })).status).toBe(200)
    }
  },
)

/** Prices are replaced as a whole; of other records a PUT changes what it names. */
const same = (path: string, json: object) => (path.endsWith('/prices') ? json : {})

verifies('contract-25.two-editors', 'these are all that the contract lets a PUT change', () => {
  const operations = Object.values(tags).flatMap((tag) => Object.values<Operation>(tag.operations))
  // Opinions and verdicts are their giver's alone.
  const isPut = ({ method, scope, path }: Operation) =>
    method === 'put' && scope === 'management' && !/feedback$|\/cases\//.test(path)
  expect(records).toHaveLength(operations.filter(isPut).length)
})

verifies('contract-25.two-editors', 'what is never shown counts too; a record that is gone is 404', async () => {
  const path = await made('/api/v1/settings/providers', { name: 'r', providerType: 'openai', apiKey: 'short' })
  const held = { 'if-match': (await ask('GET', path)).headers.get('etag') ?? '' }
  await ask('PUT', path, { apiKey: 'other' })
  expect((await ask('PUT', path, { name: 's' }, held)).status).toBe(412)
  for (const odd of ['', 'x', '"x"', 'W/"', '""']) {
    expect([odd, (await ask('PUT', path, { name: 's' }, { 'if-match': odd })).status]).toEqual([odd, 412])
  }
  await ask('DELETE', path)
  expect((await ask('PUT', path, { name: 's' }, held)).status).toBe(404)
})

verifies('contract-25.two-editors', 'of many editors at once, on two instances, one wins', async () => {
  const path = await made('/api/v1/prompts', { name: 'raced', content: '0' })
  const created = await ask('GET', path)
  const held = { 'if-match': created.headers.get('etag') ?? '' }
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => ask('PUT', path, { content: `${n}` }, held, n % 2 ? here : there)),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(11).fill(412)])
})

const waitFor = (waiting: number) =>
  expect
    .poll(async () => {
      const rows = await database.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return rows.length
    })
    .toBe(waiting)

verifies('contract-25.two-editors', 'what an import under way changes is not written over', async () => {
  const path = await made('/api/v1/prompts', { name: 'carried', content: 'old' })
  const held = { 'if-match': (await ask('GET', path)).headers.get('etag') ?? '' }
  const { imported, edited } = await database.sql.begin(async (tx) => {
    await tx`select from prompts where name = 'carried' for update`
    const prompts = [{ name: 'carried', content: 'imported' }]
    const imported = ask('POST', '/api/v1/import', { version: 1, prompts })
    await waitFor(1)
    const edited = ask('PUT', path, { content: 'edited' }, held, there)
    await waitFor(2)
    return { imported, edited }
  })
  expect([(await imported).json.updated, (await edited).status]).toEqual([1, 412])
  expect((await ask('GET', path)).json.content).toBe('imported')
})

verifies(
  'contract-25.two-editors',
  'a PUT tells what it has stored, also when it has lost its turn meanwhile',
  async () => {
    const path = await made('/api/v1/prompts', { name: 'stored', content: 'old' })
    const { edited } = await database.sql.begin(async (tx) => {
      await tx`select from prompts where name = 'stored' for update`
      const edited = ask('PUT', path, { content: 'new' })
      await waitFor(1)
      const ended = await database.sql`
      select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database
       where locktype = 'advisory' and mode = 'ExclusiveLock' and granted and d.datname = current_database()`
      expect(ended).toHaveLength(1)
      return { edited }
    })
    expect((await edited).status).toBe(200)
    expect((await ask('GET', path)).json.content).toBe('new')
  },
)

verifies(
  ['contract-25.two-editors', 'contract-23.last-used'],
  'what moves by itself is read anew by its tag, and refuses no editor',
  async () => {
    const { json } = await ask('POST', '/api/v1/keys', { name: 'used', scopes: ['management:read'] })
    const path = `/api/v1/keys/${json.id}`
    const tag = (await ask('GET', path)).headers.get('etag') ?? ''
    expect((await ask('GET', path, undefined, { 'if-none-match': tag })).status).toBe(304)
    await ask('GET', '/api/v1/prompts', undefined, { authorization: `Bearer ${json.key}` })
    await expect
      .poll(async () => (await ask('GET', path, undefined, { 'if-none-match': tag })).json?.lastUsedAt ?? null)
      .not.toBeNull()
    expect((await ask('PUT', path, { name: 'renamed' }, { 'if-match': tag })).status).toBe(200)
  },
)
