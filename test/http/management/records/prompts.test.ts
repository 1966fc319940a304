/** Contract section 2, lists and PUT; specification 4.5, 7.2 and 8. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { type Server, startServer } from '../server.ts'

let db: FreshDatabase
let server: Server
const nobody = '11111111-1111-4111-8111-111111111111'

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({ sql: db.sql })
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const create = async (name: string, content = 'Be kind.') =>
  (await server.call('POST', '/api/v1/prompts', { name, content })).json

verifies(
  ['spec-2.2.prompt', 'spec-4.5.prompts'],
  'create returns 201 with the record itself, its times in ISO 8601 UTC',
  async () => {
    const { status, json } = await server.call('POST', '/api/v1/prompts', { name: 'Pirate', content: 'Arr 🏴‍☠️' })
    expect(status).toBe(201)
    expect(Object.keys(json).sort()).toEqual(['content', 'createdAt', 'id', 'name', 'updatedAt'])
    expect(json).toMatchObject({ name: 'Pirate', content: 'Arr 🏴‍☠️' })
    expect(json.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Math.abs(Date.parse(json.createdAt) - Date.now())).toBeLessThan(60_000)
    expect((await server.call('GET', `/api/v1/prompts/${json.id}`)).json).toEqual(json)
  },
)

verifies('spec-4.5.prompts', 'PUT changes the fields in the body, keeps the rest and advances updatedAt', async () => {
  const before = await create('Old name', 'Old content')
  const { status, json } = await server.call('PUT', `/api/v1/prompts/${before.id}`, { name: 'New name' })
  expect(status).toBe(200)
  expect(json).toMatchObject({ name: 'New name', content: 'Old content', createdAt: before.createdAt })
  expect(json.updatedAt >= before.updatedAt).toBe(true)
  expect((await server.call('PUT', `/api/v1/prompts/${before.id}`, {})).json).toMatchObject({ name: 'New name' })
  const emptied = await server.call('PUT', `/api/v1/prompts/${before.id}`, { content: '' })
  expect(emptied.json).toMatchObject({ name: 'New name', content: '' })
})

test('PUT with null for a required field is 400 and changes nothing', async () => {
  const { id } = await create('Required')
  for (const body of [{ name: null }, { content: null, name: 'Changed' }]) {
    const { status, json } = await server.call('PUT', `/api/v1/prompts/${id}`, body)
    expect(status).toBe(400)
    expect(Object.keys(json)).toEqual(['message'])
  }
  expect((await server.call('GET', `/api/v1/prompts/${id}`)).json).toMatchObject({ name: 'Required' })
})

test('concurrent PUTs lose no field', async () => {
  const { id } = await create('Both', 'both')
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      server.call('PUT', `/api/v1/prompts/${id}`, { name: `name ${round}` }),
      server.call('PUT', `/api/v1/prompts/${id}`, { content: `content ${round}` }),
    ])
    const { json } = await server.call('GET', `/api/v1/prompts/${id}`)
    expect(json).toMatchObject({ name: `name ${round}`, content: `content ${round}` })
  }
})

test.each(['GET', 'PUT', 'DELETE'])('%s of an unknown or malformed id is 404 {message}', async (method) => {
  for (const id of [nobody, 'x', '1', `${nobody}0`, '%00', 'a%2Fb']) {
    const answer = await server.call(method, `/api/v1/prompts/${id}`, method === 'PUT' ? { name: 'x' } : undefined)
    expect(answer.status, id).toBe(404)
    expect(answer.json).toEqual({ message: expect.any(String) })
  }
})

verifies(
  ['spec-4.5.prompts', 'spec-7.2.management-errors'],
  'DELETE returns 204 without a body, then 404',
  async () => {
    const { id } = await create('Short-lived')
    const deleted = await server.call('DELETE', `/api/v1/prompts/${id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect((await server.call('DELETE', `/api/v1/prompts/${id}`)).status).toBe(404)
  },
)

test('DELETE while agents use it is 409 naming a few of them and counting the rest', async () => {
  const { id } = await create('In use')
  const [provider] = await db.sql`insert into providers (name, provider_type) values ('p', 'demo') returning id`
  await db.sql`insert into agents (name, provider_id, model, prompt_id)
    select 'agent ' || n, ${provider?.id}, 'm', ${id} from generate_series(1, 7) n`
  const { status, json } = await server.call('DELETE', `/api/v1/prompts/${id}`)
  expect(status).toBe(409)
  expect(json.message).toContain('"agent 1"')
  expect(json.message).toContain('and 2 more')
  expect(json.message).not.toContain('agent 6')
  expect((await server.call('GET', `/api/v1/prompts/${id}`)).status).toBe(200)
})

test.each([
  [{}, 'name'],
  [{ name: 'x' }, 'content'],
  [{ name: '', content: 'x' }, 'name'],
  [{ name: 'x'.repeat(201), content: 'x' }, 'name'],
  [{ name: 7, content: 'x' }, 'name'],
  [{ name: 'x', content: ['x'] }, 'content'],
  [{ name: 'a\0b', content: 'x' }, 'name'],
  [{ name: 'x', content: '\ud800' }, 'content'],
])('create with %j is 400 naming %s', async (body, field) => {
  const { status, json } = await server.call('POST', '/api/v1/prompts', body)
  expect(status).toBe(400)
  expect(json).toEqual({ message: expect.stringContaining(field) })
})

test('a name may have 200 characters, counted as code points', async () => {
  expect(await create('🎭'.repeat(200))).toMatchObject({ name: '🎭'.repeat(200) })
})

describe('lists (contract section 2, specification 8)', () => {
  const names = Array.from({ length: 105 }, (_, n) => `Liste ${n} ${n % 2 ? 'ÄÖÜ' : 'a%b_c\\d'}`)
  let listing: Server
  let other: FreshDatabase

  beforeAll(async () => {
    other = await freshDatabase()
    listing = await startServer({ sql: other.sql })
    for (const name of names) await other.sql`insert into prompts (name, content) values (${name}, 'c')`
  })
  afterAll(async () => {
    await listing.close()
    await other.drop()
  })

  const list = async (query: string) => {
    const { status, json } = await listing.call('GET', `/api/v1/prompts?${query}`)
    return { status, json, names: json?.prompts?.map((prompt: { name: string }) => prompt.name) }
  }

  verifies(
    ['spec-4.5.prompts', 'spec-8.limits', 'contract-2.lists'],
    'oldest first, 20 by default, with total, limit and offset',
    async () => {
      const page = await list('')
      expect(page.names).toEqual(names.slice(0, 20))
      expect(page.json).toMatchObject({ total: 105, limit: 20, offset: 0 })
      expect(Object.keys(page.json.prompts[0]).sort()).toEqual(['content', 'createdAt', 'id', 'name', 'updatedAt'])
    },
  )

  test('a larger limit is capped at 100', async () => {
    for (const limit of ['101', '5000', '999999999', '9'.repeat(400)]) {
      const page = await list(`limit=${limit}`)
      expect(page.names).toHaveLength(100)
      expect(page.json.limit).toBe(100)
    }
  })

  test('an offset beyond the end gives an empty page with the full total', async () => {
    expect((await list('offset=104')).names).toEqual(names.slice(104))
    expect((await list('offset=500&limit=3')).json).toEqual({ prompts: [], total: 105, limit: 3, offset: 500 })
    expect((await list('offset=9007199254740991')).status).toBe(200)
  })

  test.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'limit=1e1',
    'offset=-1',
    'offset=0.5',
    'offset=',
  ])('%s is 400', async (query) => {
    const { status, json } = await list(query)
    expect(status).toBe(400)
    expect(json).toEqual({ message: expect.stringContaining(query.split('=')[0] ?? '') })
  })

  test('q is a case-insensitive part of the name, never a pattern, and applies to total', async () => {
    expect((await list('q=%C3%A4%C3%B6%C3%BC&limit=100')).json.total).toBe(52)
    expect((await list(`q=${encodeURIComponent('A%B_C\\D')}`)).json.total).toBe(53)
    expect((await list(`q=${encodeURIComponent('%')}`)).json.total).toBe(53)
    expect((await list(`q=${encodeURIComponent('a_b')}`)).json).toMatchObject({ total: 0, prompts: [] })
    expect((await list('q=LISTE%2010&limit=2&offset=1')).names).toEqual([names[100], names[101]])
    expect((await list('q=')).json.total).toBe(105)
  })
})

verifies('contract-26.long-lists', 'a page of more than 32 MiB names limit, and is read in smaller pages', async () => {
  await db.sql`
    insert into prompts (name, content) select 'Long ' || n, repeat('x', 4 * 1024 * 1024) from generate_series(1, 9) n`
  const { status, json } = await server.call('GET', '/api/v1/prompts?q=Long')
  expect([status, json.message]).toEqual([413, expect.stringMatching(/^limit: .* 32 MiB/)])
  const page = await server.call('GET', '/api/v1/prompts?q=Long&limit=2&offset=7')
  expect([page.status, page.json.total]).toEqual([200, 9])
  expect(page.json.prompts.map(({ name }: { name: string }) => name)).toEqual(['Long 8', 'Long 9'])
})
