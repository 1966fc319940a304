/**
 * Rows of the queue may be read by a later version: each form that was ever written begins as it did, what is unknown
 * is refused.
 */
import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { begunSchema, decodeBegun, messageSchema } from '../../../../src/features/queue/store/stored-rows.ts'
import { decoder } from '../../../../src/persistence/stored-json.ts'
import { waits } from '../../../persistence/replies/together-scene.ts'
import { openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { queuedInput, storeOf } from './queued-scene.ts'

const folder = new URL('../../../persistence/fixtures/queued-rows/', import.meta.url)
const newest = '1'
/** Forms of rows, the first from before there were versions. A record is never changed. */
const forms = ['unversioned', newest]
const fixture = async (form: string) => JSON.parse(await readFile(new URL(`${form}.json`, folder), 'utf8'))
const decodeMessage = decoder('A queued message', messageSchema)

const limits = {
  key: { id: 'k', requestsPerMinute: 9, concurrentReplies: 9 },
  user: { tokensPerDay: 1e6, costPerMonth: 5 },
} as const

/** A message with all that a queue stores, and the reply that it waits for, which is about to wait for a call. */
async function queue({ sql, begin, newSession, message, journal }: Scene) {
  await sql`update instances set begins_queued = true`
  const reply = await begin(await newSession())
  await sql`
    update sessions set title = null, end_user = 'ada', metadata = '{"plan": "gold"}' where id = ${reply.sessionId}`
  const queued = message(reply.sessionId, {
    by: 'ada',
    includeUsage: true,
    place: { parent: null },
    approval: { answers: [{ id: 'c', output: 'found' }] },
    facts: { providerId: 'p', prompt: null, overrides: { seed: 1 }, sentAs: 'msg-1', counts: { key: 'k', user: true } },
    usesValues: true,
    limits,
    onBusy: 'steer',
    mayQueue: true,
    queue: queuedInput,
  })
  expect(await journal.admit(queued)).toMatchObject({ outcome: 'queued' })
  return { reply, replyId: queued.replyId }
}

async function rowOf({ sql }: Scene): Promise<{ message: object; admission: object | null }> {
  const [row] = await sql<
    { message: object; admission: object | null }[]
  >`select message, admission from queued_messages`
  if (row === undefined) throw new Error('nothing waits')
  return row
}

verifies(
  'contract-22.stored-input',
  'each form has a record and is read, and the newest record has every field',
  async () => {
    expect((await readdir(folder)).sort()).toEqual(forms.map((form) => `${form}.json`).sort())
    for (const form of forms) {
      const { message, admission } = await fixture(form)
      expect(decodeMessage(message)).toEqual(message)
      expect(decodeBegun(admission)).toEqual(admission)
    }
    const { message, admission } = await fixture(newest)
    expect(Object.keys(message).sort()).toEqual(Object.keys(messageSchema.properties).sort())
    expect(Object.keys(admission).sort()).toEqual(Object.keys(begunSchema.properties).sort())
  },
)

verifies('contract-22.stored-input', 'what is written is of the newest form', async () => {
  await using scene = await openScene()
  const known = await fixture(newest)
  const { reply } = await queue(scene)
  const { message } = await rowOf(scene)
  expect(Object.keys(decodeMessage(message)).sort()).toEqual(Object.keys(known.message).sort())
  await scene.journal.settle(reply, waits)
  const { admission } = await rowOf(scene)
  expect(Object.keys(decodeBegun(admission)).sort()).toEqual(Object.keys(known.admission).sort())
})

for (const form of forms) {
  verifies('contract-22.stored-input', `of the form ${form}, nothing is lost when a message begins`, async () => {
    await using scene = await openScene()
    const { sql, instance, journal } = scene
    const { message, admission } = await fixture(form)
    const { reply, replyId } = await queue(scene)
    await sql`update queued_messages set message = ${JSON.stringify(message)}::text::jsonb`
    expect(await journal.settle(reply, waits)).toMatchObject({ next: replyId })
    const [stored] = await sql`select include_usage, asked_place, facts from messages where id = ${replyId}`
    expect(stored).toMatchObject({
      include_usage: true,
      asked_place: { parent: null },
      facts: { overrides: { seed: 1 }, sentAs: 'msg-1', counts: { key: 'k', user: true }, queued: true },
    })
    expect(await sql`select call_id, decided_by, output from waiting_calls`).toEqual([
      { call_id: 'c', decided_by: 'ada', output: 'found' },
    ])
    expect(await sql`select subject from limit_places where reply_id = ${replyId}`).toEqual([{ subject: 'k' }])

    await sql`update queued_messages set admission = ${JSON.stringify(admission)}::text::jsonb`
    const begun = await storeOf(scene, instance).take(replyId)
    expect(begun).toMatchObject({
      fault: null,
      admission: {
        restState: 'waiting',
        text: 'Hello',
        parentId: null,
        historyEnd: -1,
        titleFrom: 'Hello',
        values: { user: 'ada', metadata: { plan: 'gold' } },
        reply: { sessionNum: 1, firstSeq: 5, createdAt: new Date(admission.created_at).toISOString() },
      },
    })
  })
}

verifies(
  'contract-22.stored-input',
  'what is not known stays in the queue, and keeps no reply from its end',
  async () => {
    await using scene = await openScene()
    const { sql, journal } = scene
    const { reply } = await queue(scene)
    await sql`update queued_messages set message = message || '{"version": 99}'`
    expect(await journal.settle(reply, waits)).toMatchObject({ result: 'settled', next: null })
    const { admission } = await fixture(newest)
    expect(() => decodeBegun({ ...admission, version: 99 })).toThrow(/beginning of a queued message .* \/version/)
    expect(() => decodeBegun({ ...admission, history_end: undefined })).toThrow('/history_end')
  },
)
