/** Contract section 26: MAX_USER_BYTES is about users, and what nobody is named for is no user's. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { contributions } from '../../../../src/compose/contributions.ts'
import { forkSession } from '../../../../src/features/branches/store/new-session.ts'
import { createAdmissions } from '../../../../src/persistence/replies/admission/admission.ts'
import { noLimits } from '../../../../src/persistence/replies/sessions/storage-limits.ts'
import { verifies } from '../../../verifies.ts'
import { finished, openScene } from '../../scene.ts'

const scene = await openScene()
afterAll(() => scene[Symbol.asyncDispose]())

const limits = { ...noLimits, userBytes: 10 }
const log = { warn() {} }
const admit = createAdmissions({ ...scene, contributions: contributions.admission, limits, log })
const text = 'More than ten bytes.'

verifies('contract-26.stored-bytes', 'the limit of a user holds neither messages nor forks of nobody', async () => {
  const sessionIds = await Promise.all(Array.from({ length: 4 }, () => scene.newSession()))
  const sent = await Promise.all(sessionIds.map((id) => admit(scene.message(id, { text }))))
  expect(sent.map(({ outcome }) => outcome)).toEqual(sent.map(() => 'admitted'))
  const session = { externalId: null, secretNumber: null }
  const made = await admit(scene.message(randomUUID(), { text, session }))
  expect(made.outcome).toBe('admitted')
  const ofUser = await admit(scene.message(randomUUID(), { text, session, user: 'ada' }))
  expect(ofUser.outcome).toBe('user_full')

  const [sessionId = ''] = sessionIds
  if (sent[0]?.outcome === 'admitted') await scene.journal.settle(sent[0].reply, finished())
  const fork = (user: string | null) =>
    forkSession(scene.sql, scene.agentId, { user }, { sessionId, owner: null }, { limits })
  expect(await fork(null)).toMatchObject({ user: null })
  expect(await fork('ada')).toBe('user_full')
})
