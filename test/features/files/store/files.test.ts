/** The bytes that a user's files and messages hold together, and those that stay (contract section 32). */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { contributions } from '../../../../src/compose/contributions.ts'
import {
  addFile,
  deleteFile,
  deleteFilesOf,
  filesOf,
  findUsable,
  listFiles,
} from '../../../../src/features/files/store/files.ts'
import { storeStream } from '../../../../src/features/files/store/streamed-content.ts'
import { releaseContents } from '../../../../src/features/parts/index.ts'
import { deleteSession } from '../../../../src/features/sessions/store/sessions.ts'
import { createAdmissions } from '../../../../src/persistence/replies/admission/admission.ts'
import { noLimits } from '../../../../src/persistence/replies/sessions/storage-limits.ts'
import { newAgent, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())
const { sql, agentId } = scene
const userBytes = 15
const admit = createAdmissions({
  ...{ ...scene, contributions: contributions.admission, log: { warn() {} } },
  limits: { ...noLimits, userBytes },
})

/** Stores a file. Returns its id, or the limit that it would exceed. */
async function put(
  user: string | null,
  size: number,
  fileBytes = 100,
  agent: string | null = agentId,
): Promise<string> {
  const id = randomUUID()
  const content = await storeStream(sql, id, bytes(size))
  const fields = { filename: 'a', purpose: 'user_data', mediaType: 'text/plain', expiresAfter: 3600 } as const
  const refusal = await addFile(sql, { ...fields, id, agentId: agent, user, content }, { fileBytes, userBytes })
  await releaseContents(sql, id)
  return refusal ?? id
}
async function* bytes(size: number) {
  yield Buffer.alloc(size)
}
const usable = async (user: string, id: string) => {
  const part = await findUsable(sql, id, { agentId, takesOfNone: false, user })
  if (part === null) throw new Error('there is no such file')
  return part
}
/** Sends a message that makes a session. Returns the session's id, or why there is none. */
async function send(user: string, text: string, part: Awaited<ReturnType<typeof usable>>): Promise<string> {
  const sessionId = randomUUID()
  const session = { externalId: null, secretNumber: null }
  const { outcome } = await admit(scene.message(sessionId, { user, text, session, parts: [part] }))
  return outcome === 'admitted' ? sessionId : outcome
}
const expire = (user: string) => sql`update files set expires_at = clock_timestamp() where end_user = ${user}`
const anId = expect.stringMatching(/^[0-9a-f-]{36}$/)

verifies('contract-32.files-size', 'an expired file makes room for another one, up to the byte', async () => {
  expect([await put('eva', 10, 10), await put('eva', 1, 10)]).toEqual([anId, 'files_full'])
  await expire('eva')
  expect(await put('eva', 10, 10)).toEqual(anId)
})

verifies('contract-32.files-size', 'what a file and messages of its user share counts once', async () => {
  const part = await usable('ann', await put('ann', 10))
  expect([await send('ann', '123456', part), await send('ann', '1234', part)]).toEqual(['user_full', anId])
  expect([await put('ann', 2), await put('ann', 1)]).toEqual(['user_full', anId])
  // Another message has a copy of its own, and an expired file counts no more that it could share.
  expect(await send('ann', '', part)).toBe('user_full')
  const late = await usable('eve', await put('eve', 10))
  await expire('eve')
  expect(await send('eve', '123456', late)).toBe('user_full')
})

verifies('contract-32.files-end', 'the bytes stay until neither a file nor a message has them', async () => {
  for (const isFileFirst of [true, false]) {
    const id = await put('bea', 10)
    const part = await usable('bea', id)
    const sessionId = await send('bea', '', part)
    const isStored = async () =>
      (await sql`select 1 from part_contents where sha256 = decode(${part.storedAs ?? ''}, 'hex')`).length === 1
    const reach = { agentIds: null, user: null }
    const goes = [() => deleteFile(sql, id, reach), () => deleteSession(sql, agentId, sessionId)]
    const seen: boolean[] = []
    for (const go of isFileFirst ? goes : goes.toReversed()) {
      await go()
      seen.push(await isStored())
    }
    expect(seen).toEqual([true, false])
  }
})

verifies(
  'contract-32.files-owners',
  'a user’s files are with one agent: listed, used and deleted there alone',
  async () => {
    const other = await newAgent(sql)
    const [first, second] = [await put('kim', 1), await put('kim', 1)]
    const [theirs, elsewhere, none] = [
      await put('lee', 1),
      await put('kim', 1, 100, other),
      await put(null, 1, 100, null),
    ]
    const named = async (agent: string, user: string) => (await filesOf(sql, agent, user)).map(({ id }) => id)
    expect(await named(agentId, 'kim')).toEqual([first, second])
    const page = { purpose: null, user: null, order: 'asc', limit: 9 } as const
    const reach = { agentIds: [agentId], user: 'kim' }
    const behind = async (after: string) => (await listFiles(sql, reach, { ...page, after }))?.map(({ id }) => id)
    expect(await behind(first)).toEqual([second])
    for (const after of [theirs, elsewhere, none]) expect(await behind(after)).toBeUndefined()
    const usableBy = async (id: string, user: string | null, takesOfNone: boolean) =>
      (await findUsable(sql, id, { agentId, takesOfNone, user })) !== null
    expect([await usableBy(first, 'kim', true), await usableBy(first, null, false)]).toEqual([true, true])
    expect([await usableBy(none, null, true), await usableBy(none, null, false)]).toEqual([true, false])
    expect([await usableBy(theirs, 'kim', true), await usableBy(elsewhere, 'kim', true)]).toEqual([false, false])
    await deleteFilesOf(sql, agentId, 'kim')
    expect(await named(agentId, 'kim')).toEqual([])
    expect([await named(agentId, 'lee'), await named(other, 'kim')]).toEqual([[theirs], [elsewhere]])
  },
)

verifies('contract-32.files-end', 'a request that may not use a file does not count as its use', async () => {
  const id = await put('mia', 1)
  await sql`update files set used_at = clock_timestamp() - interval '2 hours' where id = ${id}`
  const isUsed = async () =>
    (await sql`select 1 from files where id = ${id} and used_at > clock_timestamp() - interval '1 hour'`).length === 1
  const reach = { agentId, takesOfNone: true, user: 'mia' }
  for (const other of [{ user: 'lee' }, { agentId: await newAgent(sql) }]) {
    expect(await findUsable(sql, id, { ...reach, ...other })).toBeNull()
    expect(await isUsed()).toBe(false)
  }
  expect(await findUsable(sql, id, reach)).not.toBeNull()
  expect(await isUsed()).toBe(true)
})
