/**
 * `admit_message` and `admit_messages` store the same: each message goes through both from the same database, and every
 * column of every table is compared. A field of `NewMessage` needs a message here that sets it.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { MessagePart, NewMessage, ReplyInfo, Settlement } from '../../../../src/actors/ports/index.ts'
import { contributions } from '../../../../src/compose/contributions.ts'
import type { AnySql } from '../../../../src/persistence/postgres/database.ts'
import { admissionColumns } from '../../../../src/persistence/replies/admission/admission.ts'
import { jsonText } from '../../../../src/persistence/replies/settling/stored-reply.ts'
import { queuedInput } from '../../../features/queue/store/queued-scene.ts'
import { verifies } from '../../../verifies.ts'
import { rowsOf } from '../../all-rows.ts'
import { failed, finished, openScene, type Scene, textAt, versions, type Wanted } from '../../scene.ts'
import { waits } from '../together-scene.ts'

/** A message, and the session that it comes to: the replies that it holds, the last of them maybe from the beginning. */
interface Kind {
  before?: Settlement[]
  lastFromTheBeginning?: boolean
  endUser?: string
  beforeWanted?: Wanted
  wanted(replies: readonly ReplyInfo[]): Wanted
}

const set = (wanted: Wanted, session: Omit<Kind, 'wanted'> = {}): Kind => ({ ...session, wanted: () => wanted })

const part: MessagePart = {
  type: 'file',
  sha256: 'ab'.repeat(32),
  mediaType: 'text/plain',
  filename: 'a.txt',
  size: 3,
  detail: null,
  sourceUrl: null,
  place: 2,
  async *read() {},
}
const said = finished({ events: [textAt(2, 'x')], title: 'Title' })
const idempotency = { key: 'k', bodyHash: Buffer.from('h') }
const made = { externalId: null, secretNumber: null }
const facts = { providerId: randomUUID(), prompt: null, overrides: { temperature: 1 } }
const limits = {
  key: { id: 'key', requestsPerMinute: 100, concurrentReplies: 100, tokensPerDay: 1_000_000, costPerMonth: 1000 },
  user: { requestsPerMinute: 100 },
}

/** Fields that every message here has. */
type InEach = 'replyId' | 'agentId' | 'sessionId' | 'text' | 'model' | 'configuration' | 'mayStart'
/** Fields with which `createAdmissions` sends a message to `admit_message` alone. */
type Alone = 'approval' | 'isRetry' | 'isLate' | 'extras'

const kinds: Record<Exclude<keyof Wanted, InEach | Alone>, Kind[]> = {
  user: [set({ user: 'ann' }, { endUser: 'ann' })],
  parts: [set({ parts: [part] }), set({ parts: [part], session: made })],
  place: [
    { before: [finished(), said], wanted: () => ({ place: { regenerate: null } }) },
    { before: [finished(), said], wanted: ([first]) => ({ place: { regenerate: first?.id ?? null } }) },
    { before: [finished(), said], wanted: ([first]) => ({ place: { parent: first?.id ?? null } }) },
    { before: [said, said], wanted: ([_, last]) => ({ place: { parent: last?.id ?? null }, parts: [part] }) },
    set({ place: { parent: null } }),
    set({ place: { parent: null } }, { before: [finished()] }),
    set({}, { before: [said, finished()], lastFromTheBeginning: true }),
    set({ place: { regenerate: null } }, { before: [said, finished()], lastFromTheBeginning: true }),
  ],
  by: [set({ by: 'ann' }, { before: [waits] })],
  includeUsage: [set({ includeUsage: true })],
  idempotency: [set({ idempotency }), set({ idempotency }, { before: [finished()], beforeWanted: { idempotency } })],
  session: [set({ session: made }), set({ session: { ...made, externalId: 'chat' }, user: 'ann' })],
  title: [
    set({ title: 'Hello' }),
    set({ title: 'Hello', session: made }),
    set({ title: 'Hello' }, { before: [finished()] }),
  ],
  titleIsDraft: [
    set({ title: 'Hello', titleIsDraft: true }),
    set({ title: 'Hello', titleIsDraft: true, session: made }),
    set({}, { before: [finished()], beforeWanted: { title: 'Hello', titleIsDraft: true } }),
  ],
  facts: [set({ facts }, { before: [failed({ events: [] })] })],
  pin: [set({ pin: 0 })],
  usesValues: [set({ usesValues: true, facts }, { endUser: 'ann' }), set({ usesValues: true })],
  limits: [set({ limits }, { endUser: 'ann' })],
  onBusy: [set({ onBusy: 'interrupt' }), set({ onBusy: 'steer' }, { before: [said] })],
  queue: [set({ onBusy: 'enqueue', mayQueue: true, queue: queuedInput })],
  mayQueue: [set({ onBusy: 'steer', mayQueue: true, queue: queuedInput }, { before: [waits] })],
  historyLimits: [set({ historyLimits: { maxBytes: 1000, maxToolText: 10 } }, { before: [said, finished()] })],
}

class RolledBack extends Error {}

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
    await scene.sql`insert into part_contents (sha256, size) values (decode(${part.sha256}, 'hex'), 3)`
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  async function messageOf({ before = [], lastFromTheBeginning, endUser, beforeWanted, wanted }: Kind) {
    const [row] = await scene.sql<{ id: string }[]>`
      insert into sessions (agent_id, end_user, metadata) values (${scene.agentId}, ${endUser ?? null}, '{"plan": "a"}')
      returning id`
    const session = row?.id ?? ''
    const replies: ReplyInfo[] = []
    for (const [n, settlement] of before.entries()) {
      const isBranch = lastFromTheBeginning && n === before.length - 1
      const reply = await scene.begin(session, { ...beforeWanted, ...(isBranch && { place: { parent: null } }) })
      replies.push(reply)
      await scene.journal.settle(reply, settlement)
    }
    const fields = wanted(replies)
    const sessionId = fields.session ? randomUUID() : session
    return scene.message(sessionId, { text: `To ${sessionId}`, configuration: await configuration(), ...fields })
  }

  async function configuration(): Promise<number> {
    const [row] = await scene.sql<{ version: number }[]>`select version from configuration`
    return row?.version ?? 0
  }

  /** All rows after `work`, which is rolled back, and what it returned. */
  async function after<T>(work: (tx: AnySql) => Promise<T>) {
    let found: { answers: T; rows: Record<string, unknown> } | undefined
    await scene.sql
      .begin(async (tx) => {
        const answers = await work(tx)
        found = { answers, rows: await rowsOf(tx) }
        throw new RolledBack()
      })
      .catch((error) => {
        if (!(error instanceof RolledBack)) throw error
      })
    return found
  }

  verifies('contract-4.stored-before-shown', 'each message is stored alone as it is together', async () => {
    const messages: NewMessage[] = []
    for (const kind of Object.values(kinds).flat()) messages.push(await messageOf(kind))
    await scene.sql`update idempotency_keys set created_at = created_at - interval '25 hours'` // they may be used again
    const columns = messages.map((message) => ({
      ...admissionColumns(message, contributions.admission),
      text: message.text,
    }))
    const [clock] = await scene.sql<{ now: Date }[]>`
      select clock_timestamp() as now, pg_sleep(0.002)`
    const since = clock?.now ?? new Date()

    const alone = await after(async (tx) => {
      const answers: unknown[] = []
      for (const { text, ...one } of columns) {
        const [row] = await tx<{ answer: unknown }[]>`
          select admit_message(${scene.instance.id}, 1, ${jsonText(one)}::text::jsonb, ${text}) as answer`
        answers.push(row?.answer)
      }
      return answers
    })
    const together = await after(async (tx) => {
      const [row] = await tx<{ answers: unknown[] }[]>`
        select admit_messages(${scene.instance.id}, 1, ${jsonText(columns)}::text::jsonb) as answers`
      return row?.answers ?? []
    })

    const outcomes = together?.answers.map((answer) => Object(answer).outcome)
    expect(outcomes).toEqual(messages.map(() => 'admitted'))
    expect(alike(together, since)).toEqual(alike(alone, since))
  })
})

type Row = Record<string, unknown>

/** Rows and answers, with names for what no two runs have in common: numbers of sequences, and times since `since`. */
function alike(stored: { answers: unknown[]; rows: Row } | undefined, since: Date) {
  if (stored === undefined) throw new Error('nothing was stored')
  const rows = Object.entries(stored.rows).map(([table, of]) => [
    table,
    Array.from(Object(of), (row) => ({ ...Object(row) })),
  ])
  const tables: Record<string, Row[]> = Object.fromEntries(rows)
  const sessionOf = new Map(tables.sessions?.map(({ num, id }) => [num, `number of ${id}`]))
  const nameOf = (column: string, value: unknown) => {
    if (column === 'change') return typeof value
    if (column === 'session_num' || column === 'num') return sessionOf.get(Number(value)) ?? value
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && new Date(value) >= since) return 'now'
    return value
  }
  const named = (row: unknown) =>
    Object.fromEntries(Object.entries(Object(row)).map(([column, value]) => [column, nameOf(column, value)]))
  const sorted = (list: readonly unknown[]) => list.map(named).sort((a, b) => (jsonText(a) < jsonText(b) ? -1 : 1))
  return {
    answers: sorted(stored.answers),
    ...Object.fromEntries(Object.entries(tables).map(([table, list]) => [table, sorted(list)])),
  }
}
