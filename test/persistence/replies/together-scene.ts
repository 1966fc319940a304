/** What the tests of both statements for many share. */
import type { Settlement } from '../../../src/actors/ports/index.ts'
import { finished, type Scene } from '../scene.ts'

/** How many transactions wrote the newest version of these messages. */
export async function transactions({ sql }: Scene, ids: readonly string[]): Promise<number> {
  return (await sql`select distinct xmin::text from messages where id = any(${ids}::uuid[])`).length
}

/** Holds the session's row while `work` runs. */
export async function locked<T>({ sql }: Scene, sessionId: string, work: () => Promise<T>): Promise<T> {
  const { result } = await sql.begin(async (tx) => {
    await tx`select 1 from sessions where id = ${sessionId} for update`
    return { result: await work() }
  })
  return result
}

export const usage = { promptTokens: 3, completionTokens: 4, estimated: false }

const call = { id: 'c', name: 'look', arguments: '{}' }
const answer = { role: 'assistant' as const, content: '', toolCalls: [call] }
const chain = { turns: [], turn: { answer, results: [null], waiting: [null] }, callsUsed: 1 }

/** Of a reply that ends to wait for one call. */
export const waits: Settlement = finished({
  outcome: { type: 'finished', reason: 'tool_calls', usage, calls: [call] },
  events: [],
  waiting: {
    calls: [{ ...call, kind: 'caller', replyId: '', place: 1 }],
    carried: { tools: [], fields: {}, overrides: null, firstId: '', chain },
    asked: { reasoning: false, includeActions: false, expiresAfterS: null },
  },
})
