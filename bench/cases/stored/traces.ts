/** The cost of stored model requests to a reply, compared with a server with `TRACE_REQUESTS=off`. */

import type { Ground } from '../../environment/ground.ts'
import type { Figures, OwnCase, Rows } from '../../runner/case.ts'
import { ask, type GreenroomScene, load, startScene } from '../greenroom-scene.ts'

/** The rounds, many and short, the servers in turn: the difference is smaller than the machine's drift in a second. */
const ROUNDS = 8
/**
 * Replies in parallel: the processor time is measured. A tick of its clock is 10 ms; a round of these takes about thirty.
 */
const MANY = { replies: 100, tokens: 200, slots: 8 }

async function newSessions({ sql, agentId, deploy }: GreenroomScene): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    insert into sessions (agent_id) select ${agentId} from generate_series(1, ${MANY.replies}) returning id`
  return rows.map(({ id }) => `${deploy}/sessions/${id}`)
}

/** Returns the size of a reply's stored model requests. */
async function storedBytes({ sql }: GreenroomScene): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (sum(pg_column_size(r.requests)) / greatest(count(distinct r.message_id), 1))::float8 as bytes from step_runs r`
  return row?.bytes ?? 0
}

async function round(ground: Ground, scene: GreenroomScene): Promise<Figures> {
  const { replies, ...job } = MANY
  const prompt = `tokens=${job.tokens} rate=0`
  const asks = (await newSessions(scene)).map((session) => ask(session, prompt))
  const { cpu, tokens } = await load(ground, scene, { ...job, asks })
  return { cpuUs: cpu.own / tokens, postgresUs: cpu.postgres / tokens }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

type Servers = Record<string, GreenroomScene>

async function repetition(ground: Ground, servers: Servers): Promise<Rows> {
  const names = Object.keys(servers)
  const figures: Record<string, Figures[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let n = 0; n < ROUNDS; n++) {
    for (const [name, scene] of Object.entries(servers)) figures[name]?.push(await round(ground, scene))
  }
  const rows: Rows = {}
  for (const [name, scene] of Object.entries(servers)) {
    const of = (key: string) => mean((figures[name] ?? []).map((one) => one[key] ?? Number.NaN))
    rows[name] = { cpuUs: of('cpuUs'), postgresUs: of('postgresUs'), bytes: await storedBytes(scene) }
  }
  return rows
}

const off = { row: 'TRACE_REQUESTS=off', how: 'minus' } as const

export const traces: OwnCase = {
  kind: 'own',
  name: 'traces',
  title: 'Requests kept',
  rows: 'setting',
  note:
    `${ROUNDS} rounds for each of two servers in turn: ${MANY.replies} replies of ${MANY.tokens} tokens, ${MANY.slots} at a ` +
    'time, each in a new session, created before. Bytes: the requests of a reply, of one model call each.',
  columns: [
    { key: 'cpuUs', title: 'CPU µs per token', digits: 2 },
    { key: 'cpuUs', title: 'more than without', digits: 2, against: off },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 2 },
    { key: 'postgresUs', title: 'more than without', digits: 2, against: off },
    { key: 'bytes', title: 'bytes per reply', digits: 0 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using without = await startScene(checkout, ground, { env: { TRACE_REQUESTS: 'off' } })
    await using kept = await startScene(checkout, ground)
    const servers = { 'TRACE_REQUESTS=off': without, 'TRACE_REQUESTS=on': kept }
    await repetition(ground, servers) // warm-up
    const all: Rows[] = []
    while (all.length < repetitions) all.push(await repetition(ground, servers))
    return all
  },
}
