/** Answers to older versions about a session that has a parent (contract section 30). */
import { afterAll, beforeAll, expect } from 'vitest'
import { contributions } from '../../../src/compose/contributions.ts'
import { admissionColumns } from '../../../src/persistence/replies/admission/admission.ts'
import { openScene, type Scene } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

/** The answer to a message to this session. */
async function admitted(sessionId: string) {
  const { text, ...message } = scene.message(sessionId)
  const columns = JSON.stringify(admissionColumns({ text, ...message }, contributions.admission))
  const [row] = await scene.sql<{ answer: object }[]>`
    select admit_message(${scene.instance.id}, 1, ${columns}::text::jsonb, ${text}) as answer`
  return row?.answer
}

verifies('contract-30.older', 'an admission names its parent by the word of each version', async () => {
  const [child, alone] = [await scene.newSession(), await scene.newSession()]
  await scene.sql`update sessions set parent = '{}' where id = ${child}`
  expect(await admitted(child)).toMatchObject({ outcome: 'admitted', has_parent: true, is_child: true })
  expect(Object.keys((await admitted(alone)) ?? {})).not.toContain('is_child')
})

verifies('contract-30.older', 'a refusal for the call that it answers has both words, too', async () => {
  const child = await scene.newSession()
  await scene.sql`update sessions set parent = '{}' where id = ${child}`
  await scene.sql`
    insert into children (session_id, reply_id, parent_session, parent_reply, place, top_session, top_reply, depth)
    values (${child}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, gen_random_uuid(), gen_random_uuid(), 1)`
  expect(await admitted(child)).toMatchObject({ outcome: 'answers_call', by_parent: true })
})
