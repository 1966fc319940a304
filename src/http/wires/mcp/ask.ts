/** Sends the message of a call of `ask` to its session, or joins what an earlier call has sent (contract section 30). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '../../../actors/reply/new-id.ts'
import type { Sent } from '../../../actors/session/host.ts'
import { findWait } from '../../../features/approvals/index.ts'
import { type Caller, callerLimits, opensId, userOf } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { DerivedKey } from '../../../persistence/records/access/secrets.ts'
import { noFields } from '../../sending/answer-fields.ts'
import type { MessageInput } from '../../sending/message-input.ts'
import { noRetry, refuse, refuseBusy } from '../../sending/refusals.ts'
import { hashOf } from '../../sending/request-options.ts'
import { type SendDependencies, sendFrom } from '../../sending/send-message.ts'
import { sessionOfKey } from '../../sending/session-of-key.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'
import { originOf } from '../../server/observe-requests.ts'
import type { AskInput, AskMeta } from './ask-input.ts'
import { holdsKey } from './store/call-keys.ts'

export interface AskDependencies extends SendDependencies {
  sql: Sql
  /** Name the sessions that calls with a key make. The first one names new ones. */
  sessionSecrets: readonly Pick<DerivedKey, 'bytes'>[]
}

/** The HTTP exchange that a call comes in. */
export interface AskExchange {
  agentId: string
  caller: Caller
  request: FastifyRequest
  reply: FastifyReply
  /** A signal that aborts when the connection closes before it was answered. */
  left: AbortSignal
}

/** A call as it was read. */
export interface Ask {
  input: AskInput
  user: AskMeta['user']
  depth: AskMeta['depth']
  /** The idempotency key. Null when the call joins nothing. */
  key: string | null
  /** The key that a cancel names, where the call has another one of its own. Else null. */
  alias: string | null
}

/** Throws why the message is not taken: nothing is stored then. */
export async function sendAsk(
  deps: AskDependencies,
  exchange: AskExchange,
  ask: Ask,
): Promise<{ sent: Sent; sessionId: string }> {
  const { sessionId, ...place } = await placeOf(deps, exchange, ask)
  const { caller, request, reply } = exchange
  const { message, sessionId: named } = ask.input
  const idempotency = ask.key === null ? null : { key: ask.key, bodyHash: hashOf({ message, session_id: named }) }
  const input: MessageInput = {
    ...place,
    sessionId,
    text: message,
    by: userOf(caller),
    includeUsage: false,
    idempotency,
    isRetry: false,
    onBusy: 'reject',
    origin: originOf(request),
    fields: noFields,
    reasoning: false,
    depth: ask.depth,
    counted: callerLimits(caller, reply),
  }
  return { sent: await sendFrom(deps, exchange.agentId, input), sessionId }
}

type Place = Pick<MessageInput, 'sessionId' | 'user' | 'makeSession'>

const placeOf = (deps: AskDependencies, exchange: AskExchange, ask: Ask): Promise<Place> =>
  ask.input.sessionId === null ? newPlace(deps, exchange, ask) : knownPlace(deps, exchange, ask, ask.input.sessionId)

async function newPlace(deps: AskDependencies, { agentId, caller }: AskExchange, { user, key }: Ask): Promise<Place> {
  if (caller.kind === 'secret' && caller.sessionId !== null) {
    throw new HttpError(403, 'This client secret opens one session alone: send its session_id.', noRetry)
  }
  if (caller.kind === 'secret' && user !== null && user !== caller.user) {
    badRequest('_meta["greenroom/user"]: a client secret asks for its own user')
  }
  const owner = userOf(caller) ?? user
  const { id } =
    key === null
      ? { id: newId() }
      : await sessionOfKey(deps.sql, deps.sessionSecrets, { agentId: agentId.toLowerCase(), user: owner, key })
  const secretNumber = caller.kind === 'secret' ? caller.number : null
  return { sessionId: id, user: owner, makeSession: { externalId: null, secretNumber } }
}

async function knownPlace(
  { sql }: AskDependencies,
  { agentId, caller }: AskExchange,
  { key }: Ask,
  named: string,
): Promise<Place> {
  if (!isUuid(named) || !opensId(caller, named)) return refuse('not_found')
  const place = { sessionId: named.toLowerCase(), user: userOf(caller) }
  const { wait } = await findWait(sql, { agentId, ...place })
  // Elsewhere a new message rejects what waits. A model that asks on does not know what it would reject.
  if (wait !== null && !(key !== null && (await holdsKey(sql, place.sessionId, key)))) refuseBusy(wait)
  return place
}
