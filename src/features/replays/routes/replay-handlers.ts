/** Replays, as they are asked for and judged (contract section 28). */
import type { FastifyRequest } from 'fastify'
import { readMoment } from '../../../http/server/fields/moment.ts'
import { badRequest, conflict, missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import { violatedConstraint } from '../../../persistence/postgres/constraint.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { type NoteReads, originOf, recordCreation, recordDeletion } from '../../audit/index.ts'
import { judgeCase, listCases, type ReplayCase } from '../store/cases.ts'
import * as replays from '../store/replays.ts'

export interface ReplayDependencies {
  sql: Sql
  /**
   * Returns what a version of an agent holds, the draft's too. Throws 400 where there is none, and 409 where it cannot
   * be asked.
   */
  heldBy(agentId: string, version: unknown): Promise<{ version: number | 'draft'; held: object }>
  /** Tells the instances that there is something to run. */
  wakeReplays(): void
  /** Notes in the audit which sessions a person reads. */
  noteReads: NoteReads
}

const MOST_REPLIES = 200
const USUAL_REPLIES = 50

export const replayHandlers = ({ sql, heldBy, wakeReplays, noteReads }: ReplayDependencies) => {
  const agentOf = async (id: string) => (await findAgent(sql, id)) ?? missing('agent')
  const replayOf = async (agentId: string, id: string) => {
    const agent = await agentOf(agentId)
    return (await replays.findReplay(sql, agent.id, id)) ?? missing('replay')
  }
  const noteShown = async (request: FastifyRequest, cases: readonly ReplayCase[]) => {
    const sessionIds = cases.map(({ sessionId }) => sessionId)
    if (request.person) await noteReads(request, request.person.identity, { sessionIds })
  }
  return {
    createReplay: async ({ params, body, request }) => {
      const agent = await agentOf(params.id)
      const { version, held } = await heldBy(agent.id, body.version)
      const replies = await repliesIn(sql, agent.id, body.replies)
      const { concurrency = 2 } = body
      const createdBy = originOf(request).actor
      try {
        const given = { agentId: agent.id, version, held, concurrency, createdBy, replies }
        const made = await recordCreation(sql, request, 'replay', async (tx) => {
          const replay = await replays.createReplay(tx, given)
          return { ...replay, name: agent.name }
        })
        wakeReplays()
        const { name: _, ...replay } = made
        return replay
      } catch (error) {
        if (violatedConstraint(error) !== 'replays_running') throw error
        return conflict('Another replay of the agent is running.')
      }
    },
    listReplays: async ({ params, query }) => {
      const agent = await agentOf(params.id)
      return await listAs('replays', query, (page) => replays.listReplays(sql, agent.id, page))
    },
    getReplay: async ({ params, query, request }) => {
      const replay = await replayOf(params.id, params.replay_id)
      const listed = await listAs('cases', query, (page) => listCases(sql, replay.id, page))
      await noteShown(request, listed.cases)
      return { ...replay, ...listed }
    },
    cancelReplay: async ({ params }) => {
      const { id } = await replayOf(params.id, params.replay_id)
      await replays.cancelReplay(sql, id)
      wakeReplays()
    },
    deleteReplay: async ({ params, request }) => {
      const replay = await replayOf(params.id, params.replay_id)
      await recordDeletion(sql, request, 'replay', {
        find: async (tx) => await replays.findReplay(tx, replay.agentId, replay.id),
        remove: (tx) => replays.removeReplay(tx, replay.id),
      })
      wakeReplays()
    },
    judgeReplayCase: async ({ params, body, request }) => {
      const { id } = await replayOf(params.id, params.replay_id)
      const place = { replayId: id, messageId: params.message_id }
      const judged = await judgeCase(sql, place, { verdict: verdictOf(body.verdict), comment: body.comment ?? null })
      if (judged === null) return missing('case')
      await noteShown(request, [judged])
      return judged
    },
  } satisfies Handlers<'replays'>
}

const verdicts = ['better', 'same', 'worse'] as const
const verdictOf = (given: unknown) => verdicts.find((one) => one === given) ?? null

/** Returns the ids of the replies that a request names. Throws 400. */
async function repliesIn(sql: Sql, agentId: string, given: unknown): Promise<string[]> {
  if (!Array.isArray(given)) return await selected(sql, agentId, given)
  if (given.length === 0 || given.length > MOST_REPLIES) badRequest(`replies: must be 1 to ${MOST_REPLIES} ids`)
  const ids = given.map((id: unknown, index) =>
    typeof id === 'string' && isUuid(id) ? id.toLowerCase() : badRequest(`replies.${index}: there is no such reply`),
  )
  const known = await replays.repliesOf(sql, agentId, ids)
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) !== index) badRequest(`replies.${index}: is there twice`)
    const state = known.get(id)
    if (state === undefined) badRequest(`replies.${index}: is no reply of this agent’s sessions`)
    if (state === 'running') badRequest(`replies.${index}: is still running`)
  }
  return ids
}

async function selected(sql: Sql, agentId: string, given: unknown): Promise<string[]> {
  if (!isObject(given)) return badRequest('replies: must be a list of ids, or an object')
  const { feedback, since, limit = USUAL_REPLIES, ...others } = given
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) badRequest(`replies.${unknown}: is unknown`)
  const isLimit = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= MOST_REPLIES
  if (!isLimit) return badRequest(`replies.limit: must be a whole number from 1 to ${MOST_REPLIES}`)
  if (since !== undefined && typeof since !== 'string') return badRequest('replies.since: must be a time')
  if (feedback !== undefined && feedback !== 'up' && feedback !== 'down' && feedback !== 'any')
    return badRequest('replies.feedback: must be up, down or any')
  const found = await replays.selectReplies(sql, agentId, {
    feedback,
    since: since === undefined ? undefined : readMoment('replies.since', since),
    limit,
  })
  return found.length > 0 ? found : badRequest('replies: nothing matches')
}
