/** Wires up replays: the versions that they ask, and the replies that they ask again. */
import type { Host } from '../../actors/session/host.ts'
import { saidIn } from '../../features/replays/replay-case.ts'
import { createReplays } from '../../features/replays/replays.ts'
import { type CaseReply, costOf, createCases } from '../../features/replays/store/cases.ts'
import { agentHolding, heldByVersion, readAskedVersion } from '../../features/versions/index.ts'
import type { WholeSnapshot } from '../../features/versions/store/snapshot.ts'
import { agentRequest, agentToolbox } from '../../http/sending/agent-for-reply.ts'
import type { RecordDependencies } from '../../http/sending/message-record.ts'
import { badRequest } from '../../http/server/http-error.ts'
import { replyChain } from '../../http/wires/shared/reply-events.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Owner } from '../../persistence/replies/admission/admission-answer.ts'
import { storedUsage, type UsageRow } from '../../persistence/replies/settling/stored-outcome.ts'
import { decodeFacts } from '../../persistence/replies/stored/stored-columns.ts'

interface Parts {
  sql: Sql
  owner: () => Owner
  answering: RecordDependencies
  onLeft: () => void
}

/** Opens the running of replays on this instance. */
export const openReplays = (host: Host, { sql, owner, answering, onLeft }: Parts) =>
  createReplays({
    host,
    onLeft,
    cases: createCases(sql, owner),
    async prepare({ agentId, version, held }, mediaTypes) {
      const live = await answering.agents.find(agentId)
      if (live === null) throw new Error('The agent is gone.')
      // It was stored as a snapshot, when the replay was created.
      const agent = await agentHolding(sql, live, held as WholeSnapshot, version)
      return {
        agentName: agent.name,
        request: { ...agentRequest(answering, agent, undefined, mediaTypes), reasoning: false },
        openToolbox: agentToolbox(answering, agent),
      }
    },
    before: (messageId) => replyBefore(sql, messageId),
    costOf: (model, usage) => costOf(sql, model, usage),
  })

/** Returns what a version of an agent holds. Throws 400 and 409. */
export const heldBy =
  ({ sql, agents }: RecordDependencies) =>
  async (agentId: string, given: unknown) => {
    const asked = readAskedVersion(given, 'version') ?? badRequest('version: is required')
    const live = (await agents.find(agentId)) ?? badRequest('version: the agent is gone')
    const held = await heldByVersion(sql, agentId, asked)
    await agentHolding(sql, live, held, asked.version)
    return { version: asked.version, held }
  }

async function replyBefore(sql: Sql, messageId: string) {
  const replies = await replyChain(sql, messageId)
  const rows = await sql<(UsageRow & { id: string; model: string | null; finishReason: string | null })[]>`
    select m.id, coalesce((select u.model from token_usage u where u.id = m.id), m.model) as model,
           m.finish_reason as "finishReason", m.facts, m.prompt_tokens, m.completion_tokens, m.usage_estimated
      from messages m where m.id = any(${replies.map(({ id }) => id)}::uuid[])`
  const made = await Promise.all(
    rows.map(async (row) => {
      const usage = storedUsage(row)
      const cost = row.model !== null && usage ? await costOf(sql, row.model, usage) : null
      return { ...row, usage, cost, facts: decodeFacts(row.facts) }
    }),
  )
  const own = made.find(({ id }) => id === messageId)
  const old: CaseReply = {
    version: own?.facts?.agentVersion ?? null,
    model: own?.model ?? null,
    ...saidIn(replies.flatMap(({ events }) => events)),
    finishReason: own?.finishReason ?? null,
    usage: own?.usage
      ? {
          promptTokens: sumOf(made, ({ usage }) => usage?.promptTokens ?? 0) ?? 0,
          completionTokens: sumOf(made, ({ usage }) => usage?.completionTokens ?? 0) ?? 0,
        }
      : null,
    cost: sumOf(made, ({ cost }) => cost),
    durationMs: sumOf(made, ({ facts }) => facts?.durationMs ?? null),
  }
  return { old, replies }
}

/** Returns the sum over a reply and those that it continues. Null where a summand is not known. */
const sumOf = <Row>(rows: readonly Row[], of: (row: Row) => number | null): number | null =>
  rows.reduce<number | null>((sum, row) => {
    const one = of(row)
    return sum === null || one === null ? null : sum + one
  }, 0)
