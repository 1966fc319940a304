/** The entry point: one client for a server, its management API, and its agents' sessions. */
import { type Calls, createCalls } from './calls.ts'
import { refusalOf } from './errors.ts'
import type { components } from './schema.ts'
import { type NewPlaygroundSession, type PlaygroundSession, playgroundSession } from './session/playground.ts'
import { type DeploySession, deploySession, type NewSession } from './session/session.ts'
import {
  listSessions,
  type SessionChange,
  type SessionList,
  type WatchOptions,
  watchSessions,
} from './session/watch-sessions.ts'
import { follow, type Reconnect } from './wire/follow.ts'
import type { ServerEvent } from './wire/server-events.ts'
import { createTransport, type TransportOptions } from './wire/transport.ts'

export interface ClientOptions extends TransportOptions {
  /** The way a broken stream is resumed. */
  reconnect?: Reconnect
  /** The parser of the answers to `GET`, `POST` and the like. Default: `JSON.parse`, whose numbers end at 2^53. */
  parse?: (text: string) => unknown
}

/** The sessions to list: those that match every field. `q`: a part of the title, without case. */
export interface SessionQuery {
  user?: string
  metadata?: Record<string, string>
  q?: string
  archived?: 'true' | 'false'
  limit?: number
  offset?: number
}

/** A search: its words, and the sessions that it covers. */
export interface SearchQuery extends Omit<SessionQuery, 'offset' | 'q'> {
  q: string
  cursor?: string
}

export type SearchResults = components['schemas']['SearchResults']
/** A sign-in of a user at an MCP server. */
export type Connection = components['schemas']['Connection']

/** Sessions of one agent. */
export interface Agent<OfKind, Made = NewSession, Listed = components['schemas']['DeploySessionList']> {
  /** Returns a session. Without an id it is a new one, which its first message creates with the given fields. */
  session(id?: string | null, made?: Made): OfKind
  /** Returns the sessions, most recently updated first, 20 at a time unless `limit` says otherwise. */
  sessions(query?: SessionQuery): Promise<Listed>
}

export type PlaygroundAgent = Agent<
  PlaygroundSession,
  NewPlaygroundSession,
  components['schemas']['PlaygroundSessionList']
>

/** An agent over the deploy API. */
export interface DeployAgent extends Agent<DeploySession, NewSession, SessionList> {
  /** Returns each change of a session from now on, or after `lastEventId`, over as many connections as it takes. */
  watchSessions(options?: WatchOptions): AsyncGenerator<SessionChange, void>
  /**
   * Returns the sessions with a message that has all words and "phrases" of `q`, the one with the newest first, each with marked
   * snippets. `next` is the `cursor` of the next page.
   */
  search(query: SearchQuery): Promise<SearchResults>
  /** Returns the MCP servers at which a user has signed in, oldest sign-in first. */
  connections(user: string): Promise<Connection[]>
  /** Removes the sign-in of a user at a server. Rejects with `ApiError` 404 where there is none. */
  disconnect(user: string, mcpServerId: string): Promise<void>
}

export interface EventsOptions {
  /** The id of the last event that was received. */
  lastEventId?: string | undefined
  onConnection?: (state: 'open' | 'lost') => void
  signal?: AbortSignal | undefined
  reconnect?: Reconnect
}

export interface Client extends Calls {
  /** Returns the deploy API of an agent, by its id or its path (`/api/v1/agents/<id>/deploy`). */
  agent(idOrPath: string): DeployAgent
  /** Returns the playground of an agent, by its id. It needs the login, if the server has one. */
  playground(agentId: string): PlaygroundAgent
  /** Returns a stream of the management API, which is resumed whenever its connection breaks. */
  events(path: string, options?: EventsOptions): AsyncGenerator<ServerEvent, void>
}

/** Sends nothing before the first call. Throws when `baseUrl` is no URL. */
export function createClient({ reconnect = {}, ...options }: ClientOptions): Client {
  const transport = createTransport(options)
  const calls = createCalls(transport, options.parse)
  const contextOf = (agentId: string) => ({ calls, transport, reconnect, agentId })
  return {
    ...calls,
    agent(idOrPath) {
      const context = contextOf(agentIdOf(idOrPath))
      const { agentId: agent_id } = context
      const connections = '/api/v1/agents/{agent_id}/deploy/users/{user}/connections'
      return {
        session: (id = null, made = {}) => deploySession(context, id, made),
        sessions: (query = {}) => listSessions(context, query),
        search: (query) =>
          calls.GET('/api/v1/agents/{agent_id}/deploy/sessions/search', { params: { path: { agent_id }, query } }),
        watchSessions: (options = {}) => watchSessions(context, options),
        connections: async (user) =>
          (await calls.GET(connections, { params: { path: { agent_id, user } } })).connections,
        async disconnect(user, mcp_server_id) {
          await calls.DELETE(`${connections}/{mcp_server_id}`, { params: { path: { agent_id, user, mcp_server_id } } })
        },
      }
    },
    playground(agentId) {
      const context = contextOf(agentIdOf(agentId))
      const path = { agent_id: context.agentId }
      return {
        session: (id = null, made) => playgroundSession(context, id, made),
        sessions: (query = {}) =>
          calls.GET('/api/v1/agents/{agent_id}/playground/sessions', { params: { path, query } }),
      }
    },
    events(path, { lastEventId, ...rest } = {}) {
      let last = lastEventId
      return follow({
        reconnect,
        ...rest,
        async connect(signal) {
          const headers = last === undefined ? {} : { 'last-event-id': last }
          const response = await transport('GET', path, { headers, signal })
          if (!response.ok) throw await refusalOf(response)
          last ??= response.headers.get('x-last-event-id') ?? undefined
          return response.status === 204 ? null : response
        },
        isLast(event) {
          last = event.id ?? last
          return false
        },
        mayRepeat: () => true,
      })
    },
  }
}

/** Throws for what is neither an id nor a path of this server. */
function agentIdOf(idOrPath: string): string {
  const id = /^(?:\/api\/v1\/agents\/)?([^/]+?)(?:\/deploy)?\/?$/.exec(idOrPath)?.[1]
  if (id === undefined) throw new TypeError(`${idOrPath} is neither an agent's id nor the path of its deploy API.`)
  return decodeURIComponent(id)
}
