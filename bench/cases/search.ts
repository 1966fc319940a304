/** The cost of making messages searchable to PostgreSQL: the same replies with and without it, in turn. */
import { withoutIdling } from '../../src/persistence/postgres/database.ts'
import { cpuOf } from '../environment/processes.ts'
import type { Figures, OwnCase, Rows } from '../runner/case.ts'
import { ask, type GreenroomScene, load, pause, startScene } from './greenroom-scene.ts'

const kinds = {
  '5 tokens at once': { prompt: 'tokens=5 rate=0', tokens: 5, replies: 1200 },
  '100 tokens at 50/s': { prompt: 'tokens=100 rate=50', tokens: 100, replies: 100 },
  '2,000 tokens at 400/s': { prompt: 'tokens=2000 rate=400', tokens: 2000, replies: 50 },
}
const SLOTS = 25
/** Within this time all is searchable. */
const SETTLE_MS = 3000

type Kind = (typeof kinds)[keyof typeof kinds]

/** Throws where a message is not searchable: what is measured is all of it. */
async function requireIndexed({ sql }: GreenroomScene): Promise<void> {
  const [row] = await sql<{ left: boolean }[]>`
    select exists (select from messages m
      where not exists (select from message_signatures w where w.message_id = m.id)) as left`
  if (row?.left !== false) throw new Error('Messages are not searchable yet.')
}

/** Runs the replies while nobody makes messages searchable, and has those that came meanwhile left out for good. */
async function without<Result>({ sql }: GreenroomScene, run: () => Promise<Result>): Promise<Result> {
  const { result } = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('signature_progress', 0))`
    const measured = await withoutIdling(tx, run)
    await tx`
      with added as (
        insert into message_signatures (session_id, message_id, num, at, signature)
        select session_id, id, p.given + row_number() over (), created_at, '\\x00' from messages, signature_progress p
        on conflict do nothing returning num
      )
      update signature_progress set given = coalesce((select max(num) from added), given),
             changed = pg_sequence_last_value('session_changes'::regclass)`
    return { result: measured }
  })
  return result
}

export const search: OwnCase = {
  kind: 'own',
  name: 'search',
  title: 'What making messages searchable costs',
  rows: 'replies',
  note:
    'Milliseconds of PostgreSQL’s CPU time for a reply in a new session, 25 at a time, with its two messages made searchable, and ' +
    'in turn without. The time ends 3 s after the last reply, when all is searchable. Autovacuum is off: analyzing `messages` ' +
    'costs 0.1 to 0.3 ms a short reply, in whichever of the two it happens to fall.',
  columns: [
    { key: 'with', title: 'with', digits: 2 },
    { key: 'without', title: 'without', digits: 2 },
    { key: 'share', title: 'added, %', digits: 1 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground)
    await scene.sql`alter system set autovacuum = off`
    await scene.sql`select pg_reload_conf()`
    const wanted = Object.entries(kinds)
    const count = wanted.reduce((sum, [, { replies }]) => sum + replies, 0)
    const sessions = await scene.openMany(count * (2 * repetitions + 1))
    const run = async ({ prompt, tokens, replies }: Kind) => {
      const asks = sessions.splice(0, replies).map((session) => ask(session, prompt))
      await scene.sql`vacuum analyze` // else what the sessions before have left falls to some run by chance
      const before = await cpuOf(scene.pids)
      await load(ground, scene, { asks, tokens, slots: SLOTS })
      await pause(SETTLE_MS)
      return ((await cpuOf(scene.pids)).postgres - before.postgres) / 1000 / replies
    }
    const searchable = async (kind: Kind) => {
      const first = await run(kind)
      await requireIndexed(scene)
      return first
    }
    const plain = (kind: Kind) => without(scene, () => run(kind))
    // Whichever is first finds the processes less warm.
    const both = async (kind: Kind, isFirst: boolean): Promise<Figures> => {
      const first = isFirst ? await searchable(kind) : await plain(kind)
      const second = isFirst ? await plain(kind) : await searchable(kind)
      const [a, b] = isFirst ? [first, second] : [second, first]
      return { with: a, without: b, share: (100 * (a - b)) / b }
    }
    for (const [, kind] of wanted) await searchable(kind) // warm-up
    const all: Rows[] = []
    for (let n = 0; n < repetitions; n++) {
      const rows: Rows = {}
      for (const [name, kind] of wanted) rows[name] = await both(kind, n % 2 === 0)
      all.push(rows)
    }
    return all
  },
}
