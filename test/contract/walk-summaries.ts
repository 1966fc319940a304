/** Walks the endpoints of a session's summaries, on both of its paths: made, refused, and listed. */
import { play, session } from './endpoints.ts'
import type { Walk } from './walk-responses.ts'

export async function walkSummaries(walk: Walk, ids: { agent_id: string; session_id: string }): Promise<void> {
  for (const base of [session, `${play}/{session_id}`]) {
    const { agent_id, session_id } = ids
    await walk('post', `${session}/chat/completions`, ids, { messages: [{ role: 'user', content: `as ${base}` }] })
    for (const _ of ['made', 'nothing']) await walk('post', `${base}/compact`, { agent_id, session_id })
    await walk('get', `${base}/checkpoints`, ids)
    await walk('get', `${base}/checkpoints`, { agent_id })
  }
}
