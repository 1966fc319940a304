/** Kills an instance with very many running replies: all are settled as fast as one (contract section 10). */
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, LEASE_MS } from '../../../support/programs/cluster.ts'
import { deployUrl } from '../../../support/programs/product.ts'
import { textOf } from '../chaos-model.ts'
import { limitsFor, type Measured } from '../checks/chaos-bounds.ts'
import { type Crowd, count, post } from './chaos-requests.ts'

const VICTIM = 0
/** Requests that wait for their answer at a time. */
const AT_ONCE = 50

export async function burst(crowd: Crowd, cluster: Cluster, replies: number): Promise<Measured[]> {
  const { sql } = cluster.database
  const [{ id: agent }] = crowd.agents
  const rows = await sql<{ id: string }[]>`
    insert into sessions (agent_id) select ${agent} from generate_series(1, ${replies}) returning id`
  const answers: Response[] = []
  const waiting = rows.map(({ id }, n) => ({ id, marker: `m7000.${n}` }))
  const ask = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const url = `${deployUrl(crowd.urls[VICTIM] ?? '', agent)}/sessions/${next.id}/chat/completions`
      const body = { messages: [{ role: 'user', content: textOf(next.marker, 'silent') }], stream: true }
      // An overloaded instance may lose its lease and cut requests without a response head.
      const answer = await fetch(url, post(body)).catch(() => null)
      count(crowd, `burst: ${answer?.status ?? 'no answer'}`)
      if (answer !== null) answers.push(answer)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  const streaming = async () => {
    const [row] = await sql<{ n: number }[]>`select count(*)::integer as n from messages where status = 'streaming'`
    return row?.n ?? 0
  }
  const begun = await streaming()
  await cluster.kill9(VICTIM)
  const killedAt = performance.now()
  const limit = limitsFor(LEASE_MS)['many replies settled']
  while ((await streaming()) > 0 && performance.now() - killedAt < 5 * limit) await pause(50)
  const value = Math.round(performance.now() - killedAt)
  await Promise.allSettled(answers.map((answer) => answer.body?.cancel()))
  await cluster.restart(VICTIM)
  return [{ what: 'many replies settled', value, detail: `${begun} replies` }]
}
