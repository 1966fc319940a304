/**
 * MCP servers, shared by all replies (contract section 6). The connection to each is kept while it is used and some
 * minutes longer; so is the list of its tools, until the server reports a change.
 */

import type { Again, ToolAnswer } from '../../actors/ports/index.ts'
import type { MissingServer } from '../../actors/reply/reply-event.ts'
import { startDeadline } from '../../async/deadline.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import { removeSecrets, secretsInHeaders } from '../../untrusted/redact.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { createLists, type McpTool, usableTools } from './lists/mcp-lists.ts'
import type { McpConnection } from './mcp-connection.ts'
import { createConnections, keyOf, type McpConnections } from './mcp-connections.ts'
import { CannotAsk, type ServerQuestions } from './mcp-elicitation.ts'
import {
  type Challenge,
  challengeOf,
  isAnswer,
  isRefusal,
  maySessionBeLost,
  mcpFailure,
  missingReason,
  wasNotExecuted,
} from './mcp-failure.ts'
import { picturesIn } from './mcp-pictures.ts'
import { resultText } from './mcp-result.ts'
import type { McpServer } from './mcp-transport.ts'

export type { McpTool } from './lists/mcp-lists.ts'
export type { Challenge } from './mcp-failure.ts'
export type { McpServer } from './mcp-transport.ts'

export interface ToolLog {
  warn(details: object, message: string): void
}

/** The reply that a call is part of. */
export interface CallOf {
  /** The idempotency key. */
  key: string
  /** The session's values, for a server with `sendUser`. Absent where there is no session. */
  values?: ReplyValues | undefined
  /** The number of MCP calls in a row that led to the reply. Absent when none did. */
  depth?: number | undefined
  /** Whether the server may ask the user something. */
  mayAsk?: boolean
  /** The answers to what it asked, with which the call is sent again. */
  again?: Again | undefined
}

export interface McpAnswer extends ToolAnswer {
  /** Set when the server asks its user first: there is no result yet. */
  asks?: ServerQuestions
  /** Set when the server demands a grant, or one with more scopes. */
  challenge?: Challenge
}

export interface Mcp extends AsyncDisposable {
  /**
   * Returns the tools that the server offers, at most five minutes old. Rejects when it cannot be reached (`message` is
   * one sentence) or with the signal; the attempt then continues for the next caller.
   */
  tools(server: McpServer, signal: AbortSignal): Promise<McpTool[]>
  /**
   * Returns the tools for a reply: waits at most `ms`, and not at all if a reply waited in vain within the last 30 s.
   * Loading continues meanwhile: a call after it has finished gets the list.
   */
  toolsWithin(ms: number, server: McpServer, signal: AbortSignal): Promise<McpTool[]>
  /**
   * Calls a tool. Rejects only with the signal's reason, on abort. Every other outcome is a result for the model. `of`
   * is the reply that the call is part of, absent where it is part of none.
   */
  call(
    server: McpServer,
    toolName: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    of?: CallOf,
  ): Promise<McpAnswer>
  /** Returns why the newest list of tools may lack some. Null when it is whole. */
  warning(server: McpServer): Promise<string | null>
  /** Drops the cache of a server that was changed or removed; calls under way finish. */
  forget(serverId: string): void
}

/** The times, in milliseconds. */
export interface McpTimes {
  /** The limit of connecting and loading the list. */
  connect: number
  call: number
  /** The time for which a list of tools is cached. */
  list: number
  /** The time for which an unused connection is kept. */
  idle: number
  /** The time for which no reply waits for a server after one waited in vain. */
  silence: number
}

const contractTimes: McpTimes = { connect: 15_000, call: 30_000, list: 300_000, idle: 600_000, silence: 30_000 }
/** The most log lines for one list, so that a thousand broken tools do not make a thousand lines. */
const MAX_SKIP_LINES = 10
/** The most characters of why a list was cut. */
const MAX_REASON = 200

export interface McpOptions {
  outbound: Outbound
  log: ToolLog
  times?: Partial<McpTimes>
}

export function createMcp(options: McpOptions): Mcp {
  const { outbound, log } = options
  const times = { ...contractTimes, ...options.times }
  const skipLines = new Map<string, number>()
  const skip = (server: McpServer, name: string, reason: string) => {
    const lines = (skipLines.get(keyOf(server)) ?? 0) + 1
    skipLines.set(keyOf(server), lines)
    if (lines > MAX_SKIP_LINES) return
    const tool = cleared(server, name.slice(0, 1000)).slice(0, 100)
    log.warn({ mcpServer: server.name, tool, reason: cleared(server, reason) }, 'A tool of an MCP server is left out.')
  }
  /** The reasons why lists ended before their time. */
  const cuts = new Map<string, string>()
  const connections = createConnections({
    outbound,
    times,
    onListChanged: (server) => lists.drop(server),
    onLeftOut: (server, what) =>
      log.warn({ mcpServer: server.name, what }, 'A part of an answer of an MCP server cannot be read.'),
    onListCut(server, reason) {
      const why = cleared(server, reason.slice(0, 1000)).slice(0, MAX_REASON)
      cuts.set(keyOf(server), why)
      log.warn({ mcpServer: server.name, reason: why }, 'The list of tools of an MCP server is used as far as it came.')
    },
    onBrokenTool: (server, name) => skip(server, name, 'it is not a tool as MCP defines it'),
  })
  const lists = createLists(async (server, asking) => {
    skipLines.delete(keyOf(server))
    cuts.delete(keyOf(server))
    const offered = await list(connections, server, asking, times.connect)
    return usableTools(offered, server.id, (name, reason) => skip(server, name, reason))
  }, times.list)

  const tools: Mcp['tools'] = (server, signal) =>
    unlessAborted(lists.get(server), signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new NoTools(clearedFailure(server, error), missingReason(error, false), challengeOf(error))
    })
  /** The time until which servers count as silent because a reply waited in vain, by `performance.now()`. */
  const silentUntil = new Map<string, number>()

  return {
    tools,
    async warning(server) {
      const reason = cuts.get(keyOf(server))
      return reason === undefined ? null : `The list is used as far as it came: ${reason}`
    },
    async toolsWithin(ms, server, signal) {
      const isSilent = performance.now() < (silentUntil.get(keyOf(server)) ?? 0)
      using limit = startDeadline(signal, isSilent ? 0 : ms)
      try {
        const offered = await tools(server, limit.signal)
        silentUntil.delete(keyOf(server))
        return offered
      } catch (error) {
        signal.throwIfAborted()
        if (!limit.expired()) throw error
        if (isSilent) throw new NoTools('still no list of tools', 'unreachable')
        keepSilence(silentUntil, keyOf(server), times.silence)
        throw new NoTools(`no list of tools within ${ms / 1000} s`, 'unreachable')
      }
    },
    call: (server, toolName, args, signal, of) =>
      call(connections, { server, toolName, args, meta: metaOf(server, of), ms: times.call, of }, signal),
    forget(serverId) {
      for (const key of [...silentUntil.keys()]) if (key.startsWith(`${serverId} `)) silentUntil.delete(key)
      for (const key of [...cuts.keys()]) if (key.startsWith(`${serverId} `)) cuts.delete(key)
      connections.retire(({ id }) => id === serverId)
    },
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  }
}

/**
 * The failure of a server that gives no list of tools. The error itself is not attached: this one is logged, and the
 * server's text in it may contain our headers.
 */
export class NoTools extends Error {
  override name = 'NoTools'
  readonly reason: MissingServer['reason']
  readonly challenge: Challenge | undefined
  constructor(message: string, reason: MissingServer['reason'], challenge?: Challenge) {
    super(message)
    this.reason = reason
    this.challenge = challenge
  }
}

/** Notes a server as silent, and forgets those that no longer are: each session may have a key of its own. */
function keepSilence(silentUntil: Map<string, number>, key: string, ms: number): void {
  const now = performance.now()
  for (const [other, until] of silentUntil) if (until <= now) silentUntil.delete(other)
  silentUntil.set(key, now + ms)
}

async function list(connections: McpConnections, server: McpServer, asking: () => void, ms: number) {
  using limit = startDeadline(new AbortController().signal, ms)
  const ask = (connection: McpConnection) => {
    asking()
    return connection.tools(limit.signal)
  }
  try {
    return await connections.use(server, ask, () => true, limit.signal)
  } finally {
    // An open connection that does not answer may be dead.
    if (limit.expired()) retireAsIs(connections, server)
  }
}

interface Call {
  server: McpServer
  toolName: string
  args: Record<string, unknown>
  /** The metadata sent with the call's arguments. */
  meta: Readonly<Record<string, string | number>>
  ms: number
  of: CallOf | undefined
}

/** The names in a call's `_meta` (contract sections 10, 20 and 30). */
const [KEY, USER, SESSION] = ['greenroom/idempotency-key', 'greenroom/user', 'greenroom/session'] as const
const DEPTH = 'greenroom/depth'

function metaOf({ sendUser }: McpServer, of: CallOf | undefined): Record<string, string | number> {
  if (of === undefined) return {}
  const { user = null, sessionId = null } = (sendUser && of.values) || {}
  const depth = (of.depth ?? 0) + 1
  return {
    [KEY]: of.key,
    [DEPTH]: depth,
    ...(user !== null && { [USER]: user }),
    ...(sessionId !== null && { [SESSION]: sessionId }),
  }
}

async function call(
  connections: McpConnections,
  { server, toolName, args, meta, ms, of: { mayAsk = false, again } = { key: '' } }: Call,
  signal: AbortSignal,
): Promise<McpAnswer> {
  using limit = startDeadline(signal, ms)
  let wasSent = false
  const ask = (connection: McpConnection) => {
    wasSent = true
    return connection
      .call({ name: toolName, args, meta, mayAsk, again }, limit.signal)
      .catch(async (error: unknown) => {
        const isUnclear = maySessionBeLost(error) && !wasNotExecuted(error)
        if (isUnclear && (await hasLostSession(connection, limit.signal))) retireAsIs(connections, server)
        throw error
      })
  }
  try {
    const { asks, result } = await connections.use(server, ask, wasNotExecuted, limit.signal)
    if (asks) return { ok: true, content: '', asks }
    const pictures = picturesIn(result)
    const content = resultText(result, secretsInHeaders(server.headers), pictures)
    return { ok: result.isError !== true, content, ...(pictures.size > 0 && { pictures: [...pictures.values()] }) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CannotAsk) return { ok: false, content: error.message }
    // Nothing else reveals a dead event stream.
    if (limit.expired() && server.transport === 'sse') retireAsIs(connections, server)
    const why = limit.expired() ? `No answer within ${ms / 1000} s.` : clearedFailure(server, error)
    const mayHaveRun = wasSent && (limit.expired() || (!isAnswer(error) && !isRefusal(error) && !wasNotExecuted(error)))
    const challenge = challengeOf(error)
    const content = mayHaveRun ? `${why} The call may have been carried out; it is not repeated.` : why
    return { ok: false, content, ...(challenge && { challenge }) }
  }
}

/**
 * Returns whether the connection's session is lost. A tool's message may mention a session of its own; when a ping is
 * refused in such words too, it is the connection's.
 */
const hasLostSession = (connection: McpConnection, signal: AbortSignal): Promise<boolean> =>
  connection.ping(signal).then(() => false, maySessionBeLost)

const cleared = (server: McpServer, words: string): string => removeSecrets(words, secretsInHeaders(server.headers))

const clearedFailure = (server: McpServer, error: unknown): string => cleared(server, mcpFailure(error))

const retireAsIs = (connections: McpConnections, server: McpServer): void =>
  connections.retire((kept) => keyOf(kept) === keyOf(server))
