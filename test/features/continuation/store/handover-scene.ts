/** Replies of agents with `continue`, their handovers, and the loss of their instances. */
import { readFile } from 'node:fs/promises'
import type { ReplyInfo, StoredTurn } from '../../../../src/actors/ports/index.ts'
import type { Handovers } from '../../../../src/features/continuation/handovers.ts'
import { createHandovers } from '../../../../src/features/continuation/store/handovers.ts'
import { decodeTurn, encodeStart } from '../../../../src/features/continuation/store/stored-turn.ts'
import { settleLost } from '../../../../src/persistence/replies/settling/lost-owners.ts'
import { type Instance, type Scene, textAt } from '../../../persistence/scene.ts'

const start = encodeStart({
  tools: [],
  fields: {},
  overrides: null,
  toolChoice: null,
  reasoning: false,
  shows: { approval: false, caller: false },
  instructions: null,
})
export const facts = { providerId: '11111111-1111-4111-8111-111111111111', prompt: null, overrides: null, start }

export const handoversOf = ({ sql }: Scene, instance: Instance, withinS = 600): Handovers =>
  createHandovers({ sql, untimedSql: sql, instance, withinS, waitMs: 1000 })

/** A reply that has said something, of an agent with `continue`. */
export async function runningReply({ sql, agentId, journal, newSession, begin }: Scene): Promise<ReplyInfo> {
  await sql`update agents set on_loss = 'continue' where id = ${agentId}`
  const reply = await begin(await newSession(), { facts })
  await journal.append(reply, () => [textAt(2, 'So '), textAt(3, 'fär')])
  return reply
}

export const lose = ({ sql }: Scene, { id }: Instance) => sql`update instances set epoch = epoch + 1 where id = ${id}`

/** How many statements like `pattern` wait for a lock. */
export const waitingFor = async ({ sql }: Scene, pattern: string): Promise<number> =>
  (
    await sql`
      select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like ${pattern}`
  ).length

/** Ends what goes on nowhere; how many. */
export async function settle({ sql }: Scene, { id }: Instance, withinS = 600): Promise<number> {
  const options = { instanceId: id, withinS, deriveTitle: () => null, onFault() {}, onUnmoved() {} }
  return (await settleLost(sql, options)).length
}

const fixture = new URL('../../../persistence/fixtures/turns/turn-1.json', import.meta.url)

/** A turn of calls, with this text. */
export async function turnSaying(content: string): Promise<StoredTurn> {
  const { turn } = decodeTurn(await readFile(fixture, 'utf8'))
  return { ...turn, turn: { ...turn.turn, answer: { ...turn.turn.answer, content } } }
}
