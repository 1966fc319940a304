/** A list of sessions, and what changes in it from then on. */
import { addressOf } from '../calls.ts'
import { refusalOf } from '../errors.ts'
import type { components } from '../schema.ts'
import { follow, type Reconnect } from '../wire/follow.ts'
import { readAnswer, type Transport } from '../wire/transport.ts'

type Schemas = components['schemas']

/** `lastEventId`: behind it `watchSessions` goes on without a gap; good for 30 days. */
export type SessionChange =
  | { type: 'changed'; session: Schemas['DeploySessionEvent']; lastEventId: string }
  | { type: 'deleted'; id: string; lastEventId: string }

/** `lastEventId`: behind it `watchSessions` tells what this list does not show yet. Null when the server could not tell. */
export type SessionList = Schemas['DeploySessionList'] & { lastEventId: string | null }

export interface WatchOptions {
  /** Only sessions of this user. */
  user?: string
  /** The id of a list, or of the last change that was received. From now on by default. */
  lastEventId?: string | null
  onConnection?: (state: 'open' | 'lost') => void
  signal?: AbortSignal | undefined
  reconnect?: Reconnect
}

interface Context {
  transport: Transport
  reconnect: Reconnect
  agentId: string
}

const path = '/api/v1/agents/{agent_id}/deploy/sessions'

export async function listSessions({ transport, agentId }: Context, query: object): Promise<SessionList> {
  const response = await transport('GET', addressOf(path, { path: { agent_id: agentId }, query }))
  const lastEventId = response.headers.get('x-last-event-id')
  // The contract's own type of the response.
  return { ...((await readAnswer(response)) as Schemas['DeploySessionList']), lastEventId }
}

/**
 * Yields each change, over as many connections as it takes; ends when the agent is deleted or the client secret may see
 * no more.
 */
export async function* watchSessions(
  { transport, reconnect, agentId }: Context,
  { user, lastEventId = null, ...options }: WatchOptions,
): AsyncGenerator<SessionChange, void> {
  let last = lastEventId
  const address = addressOf(`${path}/stream`, { path: { agent_id: agentId }, query: { user } })
  const events = follow({
    reconnect,
    ...options,
    async connect(signal) {
      const response = await transport('GET', address, {
        headers: last === null ? {} : { 'last-event-id': last },
        signal,
      })
      if (!response.ok) throw await refusalOf(response)
      last ??= response.headers.get('x-last-event-id')
      return response
    },
    isLast: () => false,
    mayRepeat: () => true,
  })
  for await (const { id, event, data } of events) {
    if (event !== 'session' || id === undefined) continue
    last = id
    // The contract's own types of the events.
    const told = JSON.parse(data) as Schemas['DeploySessionEvent'] | Schemas['SessionGone']
    yield 'deleted' in told
      ? { type: 'deleted', id: told.id, lastEventId: id }
      : { type: 'changed', session: told, lastEventId: id }
  }
}
