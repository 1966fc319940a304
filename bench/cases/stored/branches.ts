/** A path of messages in a session with many branches, beside a straight session: what it costs to list it and to go on from it. */
import { randomUUID } from 'node:crypto'
import type { Ground } from '../../environment/ground.ts'
import { cpuOf } from '../../environment/processes.ts'
import type { OwnCase, Rows } from '../../runner/case.ts'
import { ask, type GreenroomScene, load, startScene } from '../greenroom-scene.ts'

const PATH = 200
const MESSAGES = 2000
const BRANCHES = 500
/** Lists in a row, of one session; then it is the next one's turn. */
const LISTS = 10
const ROUNDS = 40
const REPLIES = 40
const TEXT = 'A message of about one hundred characters, as they are in a conversation that goes on for long.'

/** How often the path turns. */
const TURNS = { straight: 0, 'path with 10 turns': 10, 'path with 99 turns': 99 } as const

interface Row {
  id: string
  position: number
  /** Null stands for the position before. */
  parent: number | null
  line: number | null
  role: 'user' | 'assistant'
}

/** Grows in the order in which messages are made. */
function createTree() {
  const rows: Row[] = []
  let line: number | null = null
  return {
    rows,
    /** Adds a run of messages behind a position; returns where it ends. */
    add(behind: number, count: number): number {
      for (let n = 0; n < count; n++) {
        const position = rows.length
        const parent = n === 0 ? behind : position - 1
        const turns = parent !== position - 1
        if (turns) line = position
        const role = rows[parent]?.role === 'user' ? 'assistant' : 'user'
        rows.push({ id: randomUUID(), position, parent: turns ? parent : null, line, role })
      }
      return rows.length - 1
    },
  }
}

/** Every turn has been tried in other ways before; where the path has none, there is nothing but the path. */
function messagesOf(turns: number): Row[] {
  const tree = createTree()
  if (turns === 0) tree.add(-1, PATH)
  const share = (whole: number, part: number, parts: number) =>
    Math.floor((whole * (part + 1)) / parts) - Math.floor((whole * part) / parts)
  let tip = -1
  for (let run = 0, side = 0; turns > 0 && run <= turns; run++) {
    tip = tree.add(tip, 2 * share(PATH / 2, run, turns + 1))
    const sides = run === turns ? 0 : share(BRANCHES - turns, run, turns)
    for (let n = 0; n < sides; n++) tree.add(tip, share(MESSAGES - PATH, side++, BRANCHES - turns))
  }
  return tree.rows
}

/** A version without branches is given straight sessions alone. */
async function seeded({ sql, open }: GreenroomScene, rows: readonly Row[], hasBranches: boolean): Promise<string> {
  const session = await open()
  const id = session.slice(session.lastIndexOf('/') + 1)
  const places = hasBranches ? sql`, parent, line` : sql``
  await sql`
    insert into messages (id, session_id, position, role, status, content, finish_reason, session_num, model, first_seq,
                          frame_ends, ended_at, settled_at, include_usage ${places})
    select v.id, s.id, v.position, v.role, 'complete', ${TEXT}, case when v.role = 'assistant' then 'stop' end, s.num,
           'bench', v.position * 2, array[octet_length(${TEXT})], clock_timestamp(), clock_timestamp(), false ${places}
      from sessions s,
           jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) v (id uuid, position integer, parent integer, line integer, role text)
     where s.id = ${id} order by v.position`
  await sql`update sessions set next_seq = ${rows.length * 2 + 10} where id = ${id}`
  if (rows.length === PATH) return session
  await sql`update sessions set head = ${rows.length - 1} where id = ${id}`
  for (const { position, parent } of rows) {
    if (parent === null) continue
    await sql`
      update messages m set lines_before = lines_before(m.session_id, m.parent, p.line)
        from messages p where p.session_id = ${id} and p.position = ${parent} and m.session_id = ${id} and m.position = ${position}`
  }
  return session
}

interface Talk {
  name: string
  session: string
  times: number[]
  own: number
  postgres: number
}

/** In small turns, so that whatever else the machine does meets all of them. */
async function measureLists({ pids }: GreenroomScene, talks: readonly Talk[]): Promise<void> {
  for (let round = -1; round < ROUNDS; round++) {
    for (const talk of talks) {
      const before = await cpuOf(pids)
      const times: number[] = []
      for (let n = 0; n < LISTS; n++) {
        const begin = performance.now()
        const answer = await fetch(`${talk.session}/messages`)
        const { messages } = Object(await answer.json())
        times.push(performance.now() - begin)
        if (messages?.length !== PATH) throw new Error(`${talk.name}: ${messages?.length} messages`)
      }
      const after = await cpuOf(pids)
      if (round < 0) continue // warm
      talk.times.push(...times)
      talk.own += after.own - before.own
      talk.postgres += after.postgres - before.postgres
    }
  }
}

async function measureReplies(ground: Ground, scene: GreenroomScene, { session }: Talk) {
  const asks = Array.from({ length: REPLIES }, () => ask(session, 'tokens=5 rate=0'))
  const { firstMs, cpu } = await load(ground, scene, { asks, tokens: 5, slots: 1 })
  return { replyP50Ms: firstMs.p50, replyUs: (cpu.own + cpu.postgres) / REPLIES }
}

const listFigures = ({ times, own, postgres }: Talk) => ({
  listP50Ms: median(times),
  listUs: (own + postgres) / (ROUNDS * LISTS),
  postgresUs: postgres / (ROUNDS * LISTS),
})

type Measured = ReturnType<typeof listFigures> & Awaited<ReturnType<typeof measureReplies>>

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

export const branches: OwnCase = {
  kind: 'own',
  name: 'branches',
  title: `A path of ${PATH} messages`,
  rows: 'session',
  note:
    `Straight: ${PATH} messages and no others. The others: ${MESSAGES.toLocaleString('en')} messages with ${BRANCHES} branches. ` +
    `${ROUNDS * LISTS} lists of each in turns of ${LISTS}, then ${REPLIES} replies in each.`,
  columns: [
    { key: 'listP50Ms', title: 'list p50 ms', digits: 2 },
    { key: 'listRatio', title: '/ straight', digits: 2 },
    { key: 'listUs', title: 'CPU µs per list, both', digits: 0 },
    { key: 'listUsRatio', title: '/ straight', digits: 2 },
    { key: 'postgresUs', title: 'of it PostgreSQL', digits: 0 },
    { key: 'replyP50Ms', title: 'first token p50 ms', digits: 2 },
    { key: 'replyUs', title: 'CPU µs per reply, both', digits: 0 },
    { key: 'replyUsRatio', title: '/ straight', digits: 2 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    const known = await scene.sql`
      select 1 from information_schema.columns where table_name = 'messages' and column_name = 'lines_before'`
    const talks: Talk[] = []
    for (let n = 0; n < 50; n++) await seeded(scene, messagesOf(0), known.length > 0)
    for (const [name, turns] of Object.entries(TURNS)) {
      if (turns > 0 && known.length === 0) continue
      const session = await seeded(scene, messagesOf(turns), known.length > 0)
      talks.push({ name, session, times: [], own: 0, postgres: 0 })
    }
    // Messages lie in the order in which they were made, as where each is stored with its lines at once.
    await scene.sql`cluster messages using messages_session_id_position_key`
    await scene.sql`vacuum (analyze) messages`
    await measureLists(scene, talks)
    const warm = {
      name: 'warm',
      session: await seeded(scene, messagesOf(0), known.length > 0),
      times: [],
      own: 0,
      postgres: 0,
    }
    await measureReplies(ground, scene, warm)
    const rows: Rows = {}
    let straight: Measured | undefined
    for (const talk of talks) {
      const figures = { ...listFigures(talk), ...(await measureReplies(ground, scene, talk)) }
      straight ??= figures
      rows[talk.name] = {
        ...figures,
        listRatio: figures.listP50Ms / straight.listP50Ms,
        listUsRatio: figures.listUs / straight.listUs,
        replyUsRatio: figures.replyUs / straight.replyUs,
      }
    }
    return rows
  },
}
