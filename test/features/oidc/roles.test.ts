/** Roles (contract section 33): every operation of management, with every role. */
import { afterAll, expect } from 'vitest'
import { tags } from '../../../openapi/contract.ts'
import { type Operation, type Role, roles, suffices } from '../../../openapi/operation.ts'
import { nameOf, readRoleRules, roleOf } from '../../../src/features/oidc/claims.ts'
import { call, nobody } from '../../http/scene.ts'
import { cellInTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'
import { openSignIn } from './scene.ts'

const scene = await openSignIn()
afterAll(() => scene.close())

const management = tags
  .flatMap(({ operations }) => Object.entries<Operation>(operations))
  .filter(([, { scope, open }]) => scope === 'management' && !open)

const root = scene.browser()
await root.ask('/api/auth/login', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'root', password: 'secret-word' }),
})

verifies('contract-33.roles', 'every operation of management names its least role, in the contract too', async () => {
  expect(management.filter(([, { role }]) => role === undefined).map(([id]) => id)).toEqual([])
  const { paths } = (await root.ask('/openapi.json')).json()
  for (const [, { path, method, role }] of management) expect(paths[path][method]['x-role']).toBe(role)
})

verifies('contract-33.roles', 'a viewer reads nothing that names an end user', () => {
  const naming = management.filter(([, { responses }]) => /"(?:user|endUser)":\{/.test(JSON.stringify(responses)))
  expect(naming.length).toBeGreaterThan(5)
  expect(naming.filter(([, { role }]) => role === 'viewer').map(([id]) => id)).toEqual([])
})

/** The means by which a request shows who it is from. */
interface Means {
  headers: Record<string, string>
  role: Role
  /** The scope of the key. Null: a person. */
  scope: 'management' | 'audit:read' | null
}

const opensTo = ({ loginAlone, keyScope, role: least }: Operation, { scope, role }: Means): boolean => {
  if (scope === null) return suffices(role, least ?? 'admin')
  if (loginAlone || (scope === 'audit:read') !== (keyScope === 'audit:read')) return false
  return keyScope === 'audit:read' || suffices(role, least ?? 'admin')
}

/** In the short tier an operation is asked for with every role by one means, in the long tier by all. */
const isAsked = cellInTier(2)

/** Asks without a body or a record: whatever comes behind the role's check is not 403. Returns what was answered wrongly. */
async function probe(means: Means, column: number): Promise<unknown[]> {
  const wrong: unknown[] = []
  for (const [row, [id, operation]] of management.entries()) {
    if (!isAsked(row, column)) continue
    const { method, path, role: least = '', loginAlone, keyScope } = operation
    const may = opensTo(operation, means)
    if (may && method !== 'get' && !path.includes('{')) continue // would be obeyed
    const controller = new AbortController()
    const response = await fetch(`${scene.here.url}${path.replace(/\{\w+\}/g, nobody)}`, {
      method: method.toUpperCase(),
      // Not JSON: the role is judged before the body is read.
      headers: { ...means.headers, ...(!may && method !== 'get' && { 'content-type': 'text/plain' }) },
      ...(!may && method !== 'get' && { body: 'x' }),
      signal: controller.signal,
    })
    const text = response.status === 403 ? await response.text() : ''
    controller.abort()
    const isOfScope = means.scope !== null && (loginAlone || keyScope !== undefined || means.scope === 'audit:read')
    const names = isOfScope ? response.status === 403 : text.includes(least) && text.includes(means.role)
    const isRight = may ? ![401, 403, 500].includes(response.status) : names
    if (!isRight) wrong.push([id, means.role, means.scope, response.status, text])
  }
  return wrong
}

verifies('contract-33.roles', 'every operation with every role, by login, by sign-in and by key', async () => {
  const changes = async () => (await scene.entries(1000)).filter(({ action }) => action !== 'export').length
  const byPassword = { headers: { cookie: root.cookie() }, role: 'admin', scope: null } as const
  const before = await changes()
  expect(await probe(byPassword, 0)).toEqual([])
  for (const [group, role] of [
    ['readers', 'viewer'],
    ['writers', 'editor'],
    ['admins', 'admin'],
  ] as const) {
    scene.provider.person = { sub: group, groups: [group] }
    const browser = scene.browser()
    await browser.signIn()
    expect(await probe({ headers: { cookie: browser.cookie() }, role, scope: null }, 0)).toEqual([])
    expect(await probe(await keyOf('management', role), 1)).toEqual([])
  }
  expect(await probe(await keyOf('audit:read', 'admin'), 1)).toEqual([])
  const added = (await changes()) - before
  expect(added).toBe(7) // three sign-ins and four keys: what is refused leaves no entry
})

/** Makes a key of this scope; one of the audit has no role. */
async function keyOf(scope: 'management' | 'audit:read', role: Role): Promise<Means> {
  const { key } = await newKey({ scopes: [scope], ...(scope === 'management' && { role }) })
  return { headers: { authorization: `Bearer ${key}` }, role, scope }
}

const newKey = async (body: object) => {
  const made = await call(`${scene.here.url}/api/v1/keys`, 'POST', { name: 'k', ...body }, { cookie: root.cookie() })
  return made.json
}

verifies('contract-33.key-roles', 'a role needs a scope that it narrows, and never changes', async () => {
  const refused = await call(
    `${scene.here.url}/api/v1/keys`,
    'POST',
    { name: 'k', scopes: ['deploy'], role: 'viewer' },
    { cookie: root.cookie() },
  )
  expect([refused.status, refused.json.message]).toEqual([400, expect.stringMatching(/^role:/)])
  const { id } = await newKey({ scopes: ['management'], role: 'viewer' })
  const changed = await call(`${scene.here.url}/api/v1/keys/${id}`, 'PUT', { role: 'admin' }, { cookie: root.cookie() })
  expect(changed.status).toBe(400)
})

verifies('contract-33.key-roles', 'the version before this one finds no scope of a key with a role', async () => {
  const { id } = await newKey({ scopes: ['management', 'deploy'], role: 'viewer' })
  expect(await scene.sql`select scopes from keys where id = ${id}`).toEqual([{ scopes: [] }])
})

verifies('contract-33.key-roles', 'a key with audit:read reads the audit alone, whatever its role', async () => {
  const { key } = await newKey({ scopes: ['audit:read', 'management:read'], role: 'viewer' })
  const asked = (path: string) => call(`${scene.here.url}${path}`, 'GET', undefined, { authorization: `Bearer ${key}` })
  expect((await asked('/api/v1/audit?after=0')).status).toBe(200)
  const other = await newKey({ scopes: ['management'] })
  const refused = await call(`${scene.here.url}/api/v1/audit`, 'GET', undefined, {
    authorization: `Bearer ${other.key}`,
  })
  expect(refused.status).toBe(403)
})

verifies('contract-33.audit-feed', 'what would leave entries out, and a place that is none, is 400', async () => {
  for (const query of [
    'after=x',
    'after=-1',
    'after=999999999999',
    'after=0&from=2026-01-01T00:00:00Z',
    'after=0&offset=0',
    'after=0&to=2026-01-01T00:00:00Z',
  ])
    expect([query, (await root.ask(`/api/v1/audit?${query}`)).status]).toEqual([query, 400])
  const page = (await root.ask('/api/v1/audit?after=0&limit=2')).json()
  expect(Object.keys(page).sort()).toEqual(['entries', 'next'])
  expect(page.entries).toHaveLength(2)
})

verifies(
  'contract-33.reads',
  'a person who reads a session with a user leaves one entry an hour, a key none',
  async () => {
    const session = await scene.session('mia')
    await scene.sql`update sessions set title = 'Her words' where id = ${session}`
    const nobodys = await scene.session(null)
    const at = `/api/v1/agents/${scene.agentId}/playground/sessions`
    const reads = async () => (await scene.entries(1000)).filter(({ action }) => action === 'read')
    const { key } = await newKey({ scopes: ['management'] })
    await call(`${scene.here.url}${at}/${session}/messages`, 'GET', undefined, { authorization: `Bearer ${key}` })
    await root.ask(`${at}/${nobodys}/messages`)
    await root.ask(at)
    expect(await reads()).toEqual([])
    await root.ask(`${at}/${session}/messages`)
    await root.ask(`${at}/${session}/messages`, { at: scene.there.url })
    await root.ask(`/api/v1/debug/sessions/${session}/transitions`)
    expect(await reads()).toMatchObject([
      { actor: 'root', actor_kind: 'login', kind: 'session', record_id: session, record_name: 'Her words' },
    ])
    await scene.asKey('DELETE', `${scene.deploy()}/users/mia`)
    expect(await reads()).toMatchObject([{ record_id: session, record_name: null }])
  },
)

verifies(
  'contract-33.reads',
  'a person who reads the cases of a replay leaves an entry for each session that they come from',
  async () => {
    const [asked, other, nobodys] = [await scene.session('noa'), await scene.session('noa'), await scene.session(null)]
    const [made] = await scene.sql<{ id: string; first: string }[]>`
      with said as (
        insert into messages (id, session_id, position, role, content, status)
        select gen_random_uuid(), w.id, w.place, 'assistant', 'told', 'complete'
          from (values (${asked}::uuid, 1), (${asked}::uuid, 2), (${nobodys}::uuid, 3), (${other}::uuid, 4)) as w (id, place)
        returning id, session_id, position
      ), replay as (
        insert into replays (agent_id, version, held, status, concurrency)
        values (${scene.agentId}, '1', '{}', 'complete', 1) returning id
      ), cases as (
        insert into replay_cases (replay_id, message_id, session_id, place, question, status)
        select r.id, s.id, s.session_id, s.position, 'asked', 'complete' from replay r cross join said s)
      select r.id, s.id as first from replay r cross join said s where s.position = 4`
    const replays = `/api/v1/agents/${scene.agentId}/replays`
    const reads = async () =>
      (await scene.entries(1000))
        .filter(({ action, record_id }) => action === 'read' && [asked, other, nobodys].includes(`${record_id}`))
        .map(({ record_id }) => record_id)
    const { key } = await newKey({ scopes: ['management'] })
    await call(`${scene.here.url}${replays}/${made?.id}`, 'GET', undefined, { authorization: `Bearer ${key}` })
    await root.ask(replays)
    expect(await reads()).toEqual([])
    expect((await root.ask(`${replays}/${made?.id}?limit=3`)).json().cases).toHaveLength(3)
    expect(await reads()).toEqual([asked])
    const judged = await root.ask(`${replays}/${made?.id}/cases/${made?.first}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ verdict: 'same' }),
    })
    expect([judged.status, await reads()]).toEqual([200, [other, asked]])
    await root.ask(`${replays}/${made?.id}`, { at: scene.there.url })
    expect(await reads()).toEqual([other, asked])
  },
)

verifies('contract-33.claims', 'roles are read from a claim, and the name from what there is', () => {
  const rules = readRoleRules('https://example.com/roles: a=b=admin, x=viewer, *=viewer')
  expect(rules).toEqual({
    claim: 'https://example.com/roles',
    values: [
      { value: 'a=b', role: 'admin' },
      { value: 'x', role: 'viewer' },
      { value: '*', role: 'viewer' },
    ],
  })
  const named = (value: unknown) => roleOf(readRoleRules('g: a=editor, A=admin'), { g: value })
  expect([named('a'), named(['b', 'a']), named('A'), named('b'), named({ a: 1 }), named(undefined)]).toEqual([
    'editor',
    'editor',
    'admin',
    null,
    null,
    null,
  ])
  expect(roleOf(rules, {})).toBe('viewer')
  for (const text of ['groups', 'groups: a', 'groups: a=boss', ': a=admin', 'groups: =admin'])
    expect(() => readRoleRules(text)).toThrow()
  expect([
    nameOf({ sub: 's' }),
    nameOf({ sub: 's', email: 'e' }),
    [...nameOf({ sub: '😀'.repeat(300) })].length,
  ]).toEqual(['s', 'e', 200])
  expect(roles).toEqual(['viewer', 'editor', 'admin'])
})
