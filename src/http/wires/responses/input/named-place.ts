/** The place that a request names: behind a response, or in a conversation (contract section 24). Throws 400, 404 and 409. */
import type { MessagePlace } from '../../../../actors/ports/index.ts'
import { type Caller, opens, opensAgent, ownSession } from '../../../../features/users/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { noRetry } from '../../../sending/refusals.ts'
import { badRequest, CodedError, HttpError, missing } from '../../../server/http-error.ts'
import { uuidIn } from '../output/ids.ts'
import { findResponse } from '../store/stored-responses.ts'

/** The caller and the agent of a request. */
export interface By {
  agentId: string
  caller: Caller
  /** Makes a conversation that has no agent yet one of this agent. Absent when nothing may be stored. */
  claim?: (conversation: string) => Promise<void>
}

export interface NamedPlace {
  conversation?: unknown
  previous_response_id?: unknown
  on_busy?: unknown
}

/** A place in a session. The input is new from the item `from` on. */
export interface Found {
  sessionId: string
  place: MessagePlace | undefined
  from: number
}

/** Finds the place that `previous_response_id` or `conversation` names. It is null without either. */
export async function placeByName(sql: Sql, by: By, named: NamedPlace): Promise<Found | null> {
  const { agentId, caller } = by
  const { previous_response_id: previous, conversation: given, on_busy: onBusy } = named
  const conversation = given === undefined || given === null ? null : conversationOf(given)
  if (previous !== undefined && previous !== null) {
    const uuid = uuidIn(previous)
    const response = uuid && (await findResponse(sql, uuid, agentId))
    if (
      !response ||
      response.status === 'dequeued' ||
      !opens(caller, { id: response.sessionId, user: response.user })
    ) {
      const words = uuid && (await ofAnotherAgent(sql, caller, uuid))
      const none = words || 'previous_response_id: there is no such response'
      throw new CodedError(400, none, 'previous_response_not_found')
    }
    const { id, sessionId, status } = response
    if (conversation !== null && conversation !== sessionId) {
      return badRequest('previous_response_id: is not of this conversation')
    }
    if (status === 'queued' && onBusy !== 'enqueue') {
      const words = 'The response of previous_response_id has not begun: wait for it, or send on_busy: "enqueue".'
      throw new HttpError(409, words, noRetry)
    }
    return { sessionId, place: { parent: id }, from: 0 }
  }
  if (conversation === null) return null
  return { sessionId: await conversationNamed(sql, by, conversation), place: undefined, from: 0 }
}

/** Finds the session of a conversation. Throws 404. */
async function conversationNamed(sql: Sql, { agentId, caller, claim }: By, id: string): Promise<string> {
  const find = () => ownSession(sql, caller, { agent_id: agentId, session_id: id })
  const known = await find()
  if (known !== null) return known.id
  await claim?.(id)
  return ((claim && (await find())) ?? missing('conversation')).id
}

/** Returns the words for a response of the caller's that another agent made. Null when there is none. */
async function ofAnotherAgent(sql: Sql, caller: Caller, uuid: string): Promise<string | null> {
  const found = await findResponse(sql, uuid, null)
  if (found === null || !opensAgent(caller, found.agentId)) return null
  if (!opens(caller, { id: found.sessionId, user: found.user })) return null
  return `previous_response_id: is a response of the agent ${found.agentId}, and a conversation has one agent`
}

/** Reads the id of a conversation, bare or in an object. */
function conversationOf(given: unknown): string {
  const id: unknown = typeof given === 'object' && given !== null && 'id' in given ? given.id : given
  if (typeof id !== 'string') return badRequest('conversation: must be an id, or an object with one')
  return uuidIn(id) ?? missing('conversation')
}
