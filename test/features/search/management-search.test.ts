/** Search in the messages of all agents, for operators. */
import { afterAll, expect } from 'vitest'
import { isBehind } from '../../../src/features/search/store/search-index.ts'
import { call } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { openSignIn } from '../oidc/scene.ts'
import { allIndexed, asMessages, inTime } from './support.ts'

const scene = await openSignIn()
afterAll(() => scene.close())

const root = scene.browser()
await root.ask('/api/auth/login', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'root', password: 'secret-word' }),
})
const list = async (query: string) => {
  const { status, json, text } = await inTime(() => root.ask(`/api/v1/sessions?${query}`))
  expect([query, status, status === 200 ? '' : text]).toEqual([query, 200, ''])
  return json()
}
const idsOf = async (query: string): Promise<string[]> =>
  (await list(query)).sessions.map(({ id }: { id: string }) => id)
const given = async (texts: string[], body: object = {}): Promise<string> =>
  (await scene.asKey('POST', `${scene.deploy()}/sessions`, { ...body, messages: asMessages(texts) })).json.id

verifies(
  'contract-31.search-management',
  'finds messages over all agents, with filters, pages and snippets',
  async () => {
    const first = await given(['A walrus sings'], { user: 'ann', title: 'Narwhal' })
    const second = await given(['hello', 'The wálrus answers', 'walrus'], { user: 'eve' })
    await allIndexed(scene.sql)
    const found = await list('in=messages&q=walrus')
    expect(found).toMatchObject({ total: 2, limit: 20, offset: 0, complete: true })
    expect(found).not.toHaveProperty('more')
    expect(found.sessions).toMatchObject([
      {
        id: second,
        agentId: scene.agentId,
        user: 'eve',
        snippets: [
          {
            messageId: expect.any(String),
            role: 'user',
            text: 'walrus',
            marks: [[0, 6]],
            createdAt: expect.any(String),
          },
          { role: 'assistant', text: 'The wálrus answers', marks: [[4, 10]] },
        ],
      },
      { id: first, snippets: [{ marks: [[2, 8]] }] },
    ])
    expect(await list('in=messages&q=walrus&limit=1&offset=1')).toMatchObject({ sessions: [{ id: first }], total: 2 })
    for (const [query, ids] of [
      ['q=walrus&user=ann', [first]],
      [`q=walrus&agentId=${scene.agentId}`, [second, first]],
      [`q=walrus&agentId=${scene.agentId}&user=eve`, [second]],
      [`q=walrus&agentId=${first}`, []],
      ['q=walrus&agentId=x', []],
      ['q=walrus&archived=true', []],
      ['q=walrus&status=error', []],
      ['q=walrus&text=sings', [first]],
      ['q=walrus&from=2100-01-01T00:00:00Z', []],
      ['q=narwhal', []], // a title
      ['q="a walrus"', [first]],
    ] as const)
      expect([query, await idsOf(`in=messages&${query}`)]).toEqual([query, ids])
    expect(await idsOf('in=titles&q=narwhal')).toEqual([first])
    for (const query of [
      'in=messages',
      'in=messages&q=',
      'in=messages&q=%2D',
      'in=texts&q=a',
      'in=messages&q=a&limit=0',
    ]) {
      const { status, json } = await root.ask(`/api/v1/sessions?${query}`)
      expect([query, status, typeof json().message]).toEqual([query, 400, 'string'])
    }
  },
)

verifies('contract-31.search-management', 'counts up to 1,000 sessions', async () => {
  await scene.sql`
    with made as (
      insert into sessions (id, agent_id) select gen_random_uuid(), ${scene.agentId} from generate_series(1, 1001) returning id
    ), said as (
      insert into messages (id, session_id, position, role, content, status)
      select gen_random_uuid(), id, 1, 'user', 'pelican', 'complete' from made returning id, session_id, created_at
    )
    insert into message_signatures (message_id, session_id, num, at, signature)
    select id, session_id, 1000000 + row_number() over (), created_at, '\\xffffffffffffffff' from said`
  const found = await list('in=messages&q=pelican&limit=1')
  expect(found).toMatchObject({ total: 1000, more: true })
  expect(found.sessions).toHaveLength(1)
  await scene.sql`delete from sessions where id in (
    select session_id from messages where content = 'pelican' order by id limit 1)`
  expect(await list('in=messages&q=pelican&limit=1')).not.toHaveProperty('more')
})

verifies(
  'contract-33.reads',
  'a person’s search leaves an entry for each session whose snippets it answers',
  async () => {
    const [mine, later] = [await given(['osprey'], { user: 'mia' }), await given(['osprey'], { user: 'mia' })]
    await given(['osprey'])
    await allIndexed(scene.sql)
    const reads = async () =>
      (await scene.entries(1000)).filter(({ action }) => action === 'read').map(({ record_id }) => record_id)
    const before = (await reads()).length
    const { key } = (
      await root.ask('/api/v1/keys', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'reader', scopes: ['management'] }),
      })
    ).json()
    const searched = '/api/v1/sessions?in=messages&q=osprey'
    const byKey = () => call(`${scene.here.url}${searched}`, 'GET', undefined, { authorization: `Bearer ${key}` })
    expect((await inTime(byKey)).json.total).toBe(3)
    await list('q=osprey')
    expect((await reads()).length).toBe(before)
    await list('in=messages&q=osprey&offset=2')
    expect((await reads()).slice(0, -before || undefined)).toEqual([mine])
    await list('in=messages&q=osprey')
    await list('in=messages&q=osprey')
    expect((await reads()).slice(0, -before || undefined).toSorted()).toEqual([mine, later].toSorted())
  },
)

verifies(
  'contract-31.search-soon',
  'an idle instance looks for changes with one statement that changes nothing',
  async () => {
    await expect.poll(() => isBehind(scene.sql)).toBe(false)
    const [before] = await scene.sql`select changed from signature_progress`
    await given(['heron'])
    const changed = async () => (await scene.sql`select changed from signature_progress`)[0]?.changed
    await expect.poll(changed).toBeGreaterThan(before?.changed)
    await expect.poll(() => isBehind(scene.sql)).toBe(false)
  },
)
