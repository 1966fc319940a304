/** Inserts sessions by the million with SQL. */
import type { GreenroomScene } from '../greenroom-scene.ts'

/**
 * Inserts sessions, optionally with a question and a short answer each. They are vacuumed and analyzed, as autovacuum
 * would do in time.
 */
export async function seedSessions(
  { sql, agentId }: GreenroomScene,
  count: number,
  { messages }: { messages: boolean },
) {
  await sql`
    insert into sessions (id, agent_id, title, next_seq, created_at, updated_at)
    select uuidv7(), ${agentId}, 'Session number ' || n, 10, at, at
      from generate_series(1, ${count}::integer) n, lateral (select clock_timestamp() - interval '1 second' * n as at) t`
  if (messages) {
    await sql`
      insert into messages (id, session_id, position, role, status, content, finish_reason, created_at, session_num,
                            model, first_seq, frame_ends, ended_at, settled_at, include_usage)
      select uuidv7(), s.id, p, case p when 0 then 'user' else 'assistant' end, 'complete',
             'What was said in session ' || s.num, case p when 1 then 'stop' end, s.created_at, s.num,
             'bench', 1, array[26], s.created_at, s.created_at, false
        from sessions s, generate_series(0, 1) p`
  }
  await sql`vacuum (analyze) sessions, messages`
  await sql`checkpoint`
}
