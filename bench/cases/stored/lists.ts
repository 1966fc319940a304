/** Pages of the lists of a million sessions: an agent's, and the operators' of all agents. */
import type { Figures, OwnCase, Rows } from '../../runner/case.ts'
import { type GreenroomScene, startScene } from '../greenroom-scene.ts'
import { seedSessions } from './seed.ts'

const SESSIONS = 1_000_000
const TIMES = 10

const pages = {
  'first page': 'limit=50',
  'page at 10,000': 'limit=50&offset=10000',
  'last page': `limit=50&offset=${SESSIONS - 50}`,
  'search, rare': 'limit=50&q=number%20777777',
}

/**
 * Returns the operators' pages. A hundred sessions failed, one in a thousand is of a user, and an id begins like all
 * that were made within 65 s, its first eight digits, or 4 s, nine. Goal: 20 ms, and 500 for a title's part.
 */
const operatorsPages = (scene: GreenroomScene, { id }: { id: string }) => ({
  'all agents': 'limit=50',
  'all agents, page at 5,000': 'limit=50&offset=5000',
  '… of a status that most have': 'limit=50&status=complete',
  '… of a status that few have': 'limit=50&status=error',
  '… of an error code': 'limit=50&errorCode=timeout',
  '… of an agent': `limit=50&agentId=${scene.agentId}`,
  '… of a user': 'limit=50&user=user%20777',
  '… of a user, last page': 'limit=50&offset=950&user=user%20777',
  '… of a user and a status': 'limit=50&user=user%20777&status=complete',
  '… 8 digits of an id': `limit=50&q=${id.slice(0, 8)}`,
  '… 9 digits of an id': `limit=50&q=${id.slice(0, 10)}`,
  '… a whole id': `limit=50&q=${id}`,
  '… a part of a title, rare': 'limit=50&q=number%20777777',
  '… a part of all titles': 'limit=50&q=Session',
})

/** Inserts users and the outcomes of the newest replies. Resolves to some session. */
async function seedOverview({ sql }: GreenroomScene): Promise<{ id: string }> {
  await sql`
    update sessions set end_user = 'user ' || num % 1000,
                        status = case when num % 10000 = 0 then 'error' else 'complete' end,
                        error_code = case when num % 10000 = 0 then 'timeout' end`
  await sql`vacuum (analyze) sessions`
  await sql`checkpoint`
  const [row] = await sql<{ id: string }[]>`select id from sessions order by num offset 500000 limit 1`
  if (!row) throw new Error('no sessions')
  return row
}

async function time(url: string): Promise<Figures> {
  const times: number[] = []
  let failed = 0
  for (let n = 0; n < TIMES; n++) {
    const begin = performance.now()
    const answer = await fetch(url)
    await answer.arrayBuffer()
    if (answer.ok) times.push(performance.now() - begin)
    else failed++
  }
  times.sort((a, b) => a - b)
  return { failed, ...(times.length > 0 ? { p50Ms: times[times.length >> 1] ?? 0, maxMs: times.at(-1) ?? 0 } : {}) }
}

export const lists: OwnCase = {
  kind: 'own',
  name: 'lists',
  title: `Lists of ${SESSIONS.toLocaleString('en')} sessions`,
  rows: 'page',
  note: `Each page ${TIMES} times in sequence, with the total count; all sessions belong to one agent. \`all agents\` and what follows: the list for operators.`,
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 1 },
    { key: 'maxMs', title: 'slowest ms', digits: 1 },
    { key: 'failed', title: 'refused', digits: 0 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground)
    await seedSessions(scene, SESSIONS, { messages: false })
    const overview = operatorsPages(scene, await seedOverview(scene))
    const all: Rows[] = []
    for (let n = 0; n < repetitions; n++) {
      const rows: Rows = {}
      for (const [name, query] of Object.entries(pages)) rows[name] = await time(`${scene.deploy}/sessions?${query}`)
      const everything = `${scene.product.url}/api/v1/sessions`
      for (const [name, query] of Object.entries(overview)) rows[name] = await time(`${everything}?${query}`)
      all.push(rows)
    }
    return all
  },
}
