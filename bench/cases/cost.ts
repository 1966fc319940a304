/** The cost of a reply to the database: rows, bytes of WAL, round trips. */
import type { Figures, OwnCase, Rows } from '../runner/case.ts'
import { ask, type GreenroomScene, load, pause, startScene } from './greenroom-scene.ts'

/** An idle connection reports its counts within ten seconds (pgstat's idle interval). */
const SETTLE_MS = 11_000

const kinds = {
  '5 tokens at once, alone': { prompt: 'tokens=5 rate=0', tokens: 5, replies: 100, slots: 1, calls: false },
  '100 tokens at 50/s, 50 at a time': {
    prompt: 'tokens=100 rate=50',
    tokens: 100,
    replies: 150,
    slots: 50,
    calls: false,
  },
  '5 tokens at once behind a call, alone': {
    prompt: 'tokens=5 rate=0 calls=1',
    tokens: 5,
    replies: 100,
    slots: 1,
    calls: true,
  },
}

/** Returns an agent like the scene's, with a tool that answers at once. */
async function agentWithTool({ agentId, product: { client } }: GreenroomScene): Promise<string> {
  const known = await client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  const { providerId = '', model = '' } = known.data ?? {}
  const agent = await client.POST('/api/v1/agents', { body: { name: 'With a tool', providerId, model } })
  const id = agent.data?.id ?? ''
  const chosen = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: id } },
    body: { builtInToolIds: ['current_time'] },
  })
  if (!chosen.data) throw new Error(JSON.stringify([known.error, agent.error, chosen.error]))
  return id
}

type Counts = { at: number; inserted: number; updated: number; deleted: number; commits: number; wal: number }

async function counts({ sql }: GreenroomScene): Promise<Counts> {
  const [row] = await sql<Counts[]>`
    select extract(epoch from clock_timestamp())::float8 as at, tup_inserted::float8 as inserted,
           tup_updated::float8 as updated, tup_deleted::float8 as deleted, xact_commit::float8 as commits,
           pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
      from pg_stat_database where datname = current_database()`
  if (!row) throw new Error('No counts.')
  return row
}

/** Returns the difference for each reply, minus idle activity in the same time. */
function between(before: Counts, after: Counts, idle: { [key: string]: number }, replies: number): Figures {
  const seconds = after.at - before.at
  const of = (key: keyof Counts) => Math.max(0, after[key] - before[key] - (idle[key] ?? 0) * seconds) / replies
  return {
    inserted: of('inserted'),
    updated: of('updated'),
    deleted: of('deleted'),
    wal: of('wal'),
    commits: of('commits'),
  }
}

export const cost: OwnCase = {
  kind: 'own',
  name: 'cost',
  title: 'What a reply costs the database',
  rows: 'replies',
  note:
    'In new sessions, created before. Rows and transactions as counted by pg_stat_database, bytes of WAL; the activity of an ' +
    'idle server in the same time is subtracted. Each statement is its own transaction, so transactions are round trips.',
  columns: [
    { key: 'inserted', title: 'rows inserted' },
    { key: 'updated', title: 'updated' },
    { key: 'deleted', title: 'deleted' },
    { key: 'wal', title: 'bytes of WAL', digits: 0 },
    { key: 'commits', title: 'round trips' },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground)
    const wanted = Object.entries(kinds).map(([name, kind]) => ({ name, ...kind }))
    const countOf = (calls: boolean) =>
      wanted.filter((kind) => kind.calls === calls).reduce((sum, { replies }) => sum + replies * (repetitions + 1), 0)
    const plain = await scene.openMany(countOf(false))
    const calling = await scene.openMany(countOf(true), await agentWithTool(scene))
    const run = async ({ prompt, replies, tokens, slots, calls }: (typeof wanted)[number]) => {
      const sessions = calls ? calling : plain
      const asks = sessions.splice(0, replies).map((session) => ask(session, prompt))
      await load(ground, scene, { asks, tokens, slots })
      await pause(SETTLE_MS)
      return await counts(scene)
    }
    for (const kind of wanted) await run(kind) // warm-up: each connection caches its plans
    const idleFrom = await counts(scene)
    await pause(SETTLE_MS)
    let last = await counts(scene)
    const idle = between(idleFrom, last, {}, last.at - idleFrom.at)
    const all: Rows[] = []
    for (let n = 0; n < repetitions; n++) {
      const rows: Rows = {}
      for (const kind of wanted) {
        const before = last
        last = await run(kind)
        rows[kind.name] = between(before, last, idle, kind.replies)
      }
      all.push(rows)
    }
    return all
  },
}
