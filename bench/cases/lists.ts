/** Pages of a list of a million sessions. */
import type { Figures, OwnCase, Rows } from '../case.ts'
import { startScene } from './greenroom-scene.ts'
import { seedSessions } from './seed.ts'

const SESSIONS = 1_000_000
const TIMES = 10

const pages = {
  'first page': 'limit=50',
  'page at 10,000': 'limit=50&offset=10000',
  'last page': `limit=50&offset=${SESSIONS - 50}`,
  'search, rare': 'limit=50&q=number%20777777',
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
  note: `Each page ${TIMES} times in sequence, with the total count; all sessions belong to one agent.`,
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 1 },
    { key: 'maxMs', title: 'slowest ms', digits: 1 },
    { key: 'failed', title: 'refused', digits: 0 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using scene = await startScene(checkout, ground)
    await seedSessions(scene, SESSIONS, { messages: false })
    const all: Rows[] = []
    for (let n = 0; n < repetitions; n++) {
      const rows: Rows = {}
      for (const [name, query] of Object.entries(pages)) rows[name] = await time(`${scene.deploy}/sessions?${query}`)
      all.push(rows)
    }
    return all
  },
}
