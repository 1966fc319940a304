/** What pages say of versions, of audit entries, and of the link to a share (contract sections 23, 28 and 31). */
import { expect, test } from 'vitest'
import { ApiError } from '../../packages/client/src/index.ts'
import { actorName, meansOf, userOf, whatWords } from '../../ui/src/audit/words.ts'
import { addressIn, sentenceFor } from '../../ui/src/share/shared-session.ts'
import { changedFields } from '../../ui/src/versions/held.ts'

test('a draft’s changed fields are named by their words, and what is no setting is not', () => {
  const live = { name: 'a', promptId: null, httpToolIds: ['x'], generationConfig: { topK: 1 }, version: 3 }
  const draft = { ...live, promptId: 'p', httpToolIds: ['y'], generationConfig: { topK: 2 }, version: 4 }
  expect(changedFields(live, { ...draft, updatedAt: 'now', hasDraft: true })).toEqual([
    'prompt',
    'http tools',
    'generation config',
  ])
  expect(changedFields(live, { ...live, generationConfig: { topK: 1 } })).toEqual([])
})

const entry: Parameters<typeof actorName>[0] = {
  ...{ id: '1', at: '2026-01-01T00:00:00Z', kind: 'agent', recordId: 'a', recordName: 'Desk', changes: {} },
  ...{ actor: null, ip: null, requestId: null },
  action: 'update',
  actorKind: 'login',
}

test('an entry says what was done, by whom, and by which means', () => {
  expect([
    whatWords(entry),
    whatWords({ kind: 'login', action: 'login_failed' }),
    whatWords({ kind: 'x', action: 'read' }),
  ]).toEqual(['Agent changed', 'Failed to log in', 'x read'])
  const by = (actorKind: 'deploy_key' | 'system' | 'login', actor: string | null = null) => [
    actorName({ ...entry, actor, actorKind }),
    meansOf({ ...entry, actor, actorKind }),
  ]
  expect([by('deploy_key'), by('system'), by('login'), by('login', 'ann')]).toEqual([
    ['The deploy key', 'deploy key'],
    ['The server', 'server'],
    ['Anonymous', 'no login set up'],
    ['ann', 'login'],
  ])
})

test('the user whom it names is its record, or who held the secret', () => {
  expect([
    userOf({ ...entry, kind: 'user', recordName: 'bo', actor: 'ann' }),
    userOf({ ...entry, actorKind: 'client_secret', actor: 'bo' }),
    userOf({ ...entry, actor: 'ann' }),
  ]).toEqual(['bo', 'bo', null])
})

test('a link to a share has its session in the path, and its token in the fragment alone', () => {
  const of = (pathname: string, hash: string) => addressIn({ pathname, hash })
  const address = { agentId: 'a', sessionId: 's', token: 'sh_x-1' }
  expect([of('/share/a/s', '#sh_x-1'), of('/share/a/s/', '#sh_x-1')]).toEqual([address, address])
  for (const [path, hash] of [
    ['/share/a', '#sh_x'],
    ['/share/a/s/t', '#sh_x'],
    ['/share/a/s', ''],
    ['/share/a/s', '#gk_x'],
    ['/share/a/s', '#sh_x y'],
  ] as const)
    expect([path, hash, of(path, hash)]).toEqual([path, hash, null])
  const words = [401, 403, 404].map((status) => sentenceFor(new ApiError(status, '')))
  expect(new Set(words)).toEqual(new Set([expect.stringContaining('expired or was revoked')]))
  expect([sentenceFor(new ApiError(500, '')), sentenceFor(new Error('x'))]).toEqual(
    Array(2).fill(expect.stringContaining('could not be loaded')),
  )
})
