/** A session with a long history: how long the next reply waits. */

import { chatBody } from '../../contenders/chat-completions.ts'
import type { Ground } from '../../environment/ground.ts'
import type { OwnCase } from '../../runner/case.ts'
import type { Ask } from '../../runner/contender.ts'
import { ask, type GreenroomScene, load, startScene } from '../greenroom-scene.ts'

const MESSAGES = 2000
const TIMES = 60
/** About 25 tokens: 2,000 of them fit into HISTORY_MAX_TOKENS. */
const TEXT = 'A message of about one hundred characters, as they are in a conversation that goes on for long.'

/** Returns a session with so many finished messages, inserted by SQL. */
async function seeded(scene: GreenroomScene, messages: number): Promise<string> {
  const session = await scene.open()
  const id = session.slice(session.lastIndexOf('/') + 1)
  await scene.sql`
    insert into messages (id, session_id, position, role, status, content, finish_reason, session_num, model, first_seq,
                          frame_ends, ended_at, settled_at, include_usage)
    select gen_random_uuid(), s.id, n, case when n % 2 = 0 then 'user' else 'assistant' end, 'complete', ${TEXT},
           case when n % 2 = 1 then 'stop' end, s.num, 'bench', n * 2, array[octet_length(${TEXT})],
           clock_timestamp(), clock_timestamp(), false
      from sessions s, generate_series(0, ${messages}::integer - 1) n where s.id = ${id}`
  await scene.sql`update sessions set next_seq = ${messages * 2 + 10} where id = ${id}`
  return session
}

/** Returns the same request, sent directly to the model. */
function straight(ground: Ground, messages: number): Ask {
  const past = Array.from({ length: messages }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: TEXT }))
  const asked = Object(JSON.parse(chatBody('tokens=5 rate=0', true)))
  const body = JSON.stringify({ ...asked, messages: [...past, ...asked.messages] })
  return { url: `${ground.upstreamUrl}/chat/completions`, body }
}

export const history: OwnCase = {
  kind: 'own',
  name: 'history',
  title: `A history of ${MESSAGES.toLocaleString('en')} messages`,
  rows: 'asked',
  note: `Time to first token, ${TIMES} replies in sequence in one session; straight: the same body, sent to the model.`,
  columns: [
    { key: 'p50Ms', title: 'first token p50 ms', digits: 2 },
    { key: 'p99Ms', title: 'p99 ms', digits: 1 },
    { key: 'cpuUs', title: 'CPU µs per reply', digits: 0 },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    const measure = async (one: Ask) => {
      const asks = Array.from({ length: TIMES }, () => one)
      const { firstMs, cpu } = await load(ground, scene, { asks, tokens: 5, slots: 1 })
      const used = { cpuUs: cpu.own / TIMES, postgresUs: cpu.postgres / TIMES }
      return { p50Ms: firstMs.p50, p99Ms: firstMs.p99, ...used }
    }
    const [empty, long] = [await scene.open(), await seeded(scene, MESSAGES)]
    await scene.sql`analyze messages`
    await measure(ask(await seeded(scene, MESSAGES), 'tokens=5 rate=0')) // warm
    return {
      'straight, 2,000 messages': await measure(straight(ground, MESSAGES)),
      'session, few messages': await measure(ask(empty, 'tokens=5 rate=0')),
      'session, 2,000 messages': await measure(ask(long, 'tokens=5 rate=0')),
    }
  },
}
