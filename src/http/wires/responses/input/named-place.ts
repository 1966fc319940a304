/** The place that a request names: behind a response, or in a conversation (contract section 24). Throws 400, 404 and 409. */
import { type Caller, opens, opensAgent } from '../../../../features/users/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { noRetry } from '../../../sending/refusals.ts'
import { badRequest, CodedError, HttpError, missing } from '../../../server/http-error.ts'
import { uuidIn } from '../output/ids.ts'
import { findPlaces, type Names, type Place, type Places } from '../store/places.ts'

/** The caller and the agent of a request. */
export interface By {
  agentId: string
  caller: Caller
  /** Makes a conversation that has no agent yet one of this agent. Absent when nothing may be stored. */
  claim?: (conversation: string) => Promise<void>
}

/** The fields of a request that name a place. */
export interface NamingFields {
  conversation?: unknown
  previous_response_id?: unknown
  on_busy?: unknown
}

/** Returns whether the caller may open a session of this agent, or of any agent when none is given. */
export const reaches = (
  { agentId, caller }: { agentId: string | undefined; caller: Caller },
  of: Pick<Place, 'agentId' | 'sessionId' | 'user'>,
): boolean =>
  (agentId === undefined || of.agentId === agentId.toLowerCase()) &&
  opensAgent(caller, of.agentId) &&
  opens(caller, { id: of.sessionId, user: of.user })

/** Finds the places that a request names, and among them the one that it is for: null when its items alone tell it. */
export async function placesNamed(
  sql: Sql,
  by: By,
  fields: NamingFields,
  items: readonly string[] = [],
): Promise<Places & { named: Place | null }> {
  const names = { ...namesIn(fields), items }
  const find = () => findPlaces(sql, names, (place) => reaches(by, place))
  let places = await find()
  if (names.response === null && names.conversation !== null && places.conversation === null && by.claim) {
    await by.claim(names.conversation)
    places = await find()
  }
  return { ...places, named: placeNamed(by, names, places, fields.on_busy === 'enqueue') }
}

function namesIn({ previous_response_id: previous = null, conversation = null }: NamingFields) {
  return {
    conversation: conversation === null ? null : conversationOf(conversation),
    response: previous === null ? null : (uuidIn(previous) ?? unknownResponse('there is no such response')),
  }
}

/** Decides which place a request is for. */
function placeNamed(by: By, { response, conversation }: Names, places: Places, mayWait: boolean): Place | null {
  if (response === null) return conversation === null ? null : (places.conversation ?? missing('conversation'))
  const place = places.response
  if (place === null || !reaches({ ...by, agentId: undefined }, place)) {
    return unknownResponse('there is no such response')
  }
  if (!reaches(by, place)) {
    return unknownResponse(`is a response of the agent ${place.agentId}, and a conversation has one agent`)
  }
  if (conversation !== null && conversation !== place.sessionId) {
    return badRequest('previous_response_id: is not of this conversation')
  }
  if (place.status !== 'queued' || mayWait) return place
  const words = 'The response of previous_response_id has not begun: wait for it, or send on_busy: "enqueue".'
  throw new HttpError(409, words, noRetry)
}

function unknownResponse(words: string): never {
  throw new CodedError(400, `previous_response_id: ${words}`, 'previous_response_not_found')
}

/** Reads the id of a conversation, bare or in an object. */
function conversationOf(given: unknown): string {
  const id: unknown = typeof given === 'object' && given !== null && 'id' in given ? given.id : given
  if (typeof id !== 'string') return badRequest('conversation: must be an id, or an object with one')
  return uuidIn(id) ?? missing('conversation')
}
