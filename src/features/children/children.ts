/** Child sessions, as the host's extension: agents that are asked by other agents (contract section 30). */

import { deriveTitle } from '../../actors/history/title.ts'
import type { CallNotes, ToolAnswer } from '../../actors/ports/index.ts'
import { placeOfCall } from '../../actors/reply/call-key.ts'
import { endsAtBoundary } from '../../actors/session/extension.ts'
import type { Host, HostExtension } from '../../actors/session/host.ts'
import { cancelReply } from '../../actors/session/live-sessions.ts'
import { pause } from '../../async/pause.ts'
import { callNotes } from './called-session.ts'
import { childMessages, childSession } from './child-ids.ts'
import { failed, notOpened, resultOf } from './results.ts'
import type { ChildCall, ChildStore, Opened, ToEnd } from './store/children.ts'
import { createWaits, type WaitingCall } from './waits.ts'

export interface ChildrenOptions {
  store: ChildStore
  /** Generates a reply that has begun on this instance. */
  generate(replyId: string): void
  /** Asks again while the database is away. */
  again<T>(ask: () => Promise<T>): Promise<T>
}

/** The session that asks. */
export interface Asking {
  sessionId: string
  /** The number of MCP calls in a row that led to it. */
  mcpDepth: number
}

/** A call whose begin is stored. */
export interface StartedCall {
  key: string
  callId: string
}

export interface AskedCall extends StartedCall {
  /** Returns whether the reply waits for nothing that another instance could not wait for. */
  mayLeave(): boolean
  /** Returns whether the reply waits for nothing but calls of agents. */
  isAlone(): boolean
  /** Set when the child is there already. */
  joins?: boolean | undefined
  signal: AbortSignal
}

export interface Children extends HostExtension {
  /** Returns what asks agents for a session. Null where it is too deep to ask any. */
  within(asking: Asking): Promise<{
    notes(agentId: string, key: string): CallNotes
    start(agentId: string, message: string, call: StartedCall): object | undefined
    ask(agentId: string, message: string, call: AskedCall): Promise<ToolAnswer>
  } | null>
  /** Begins children that nobody begins, and ends those that nobody waits for. Call once a second. */
  tend(): Promise<void>
}

/** Calls from the top session to the lowest, at most. */
const MOST_DEEP = 3
/** The interval at which replies are looked for that may leave, during a drain. */
const LOOK_MS = 250

/** Returns why no user could send a message of this text. Null when one could. */
function whyUnusable(message: string): string | null {
  if (message.trim() === '') return 'is empty'
  if (!message.isWellFormed()) return 'holds one half of a surrogate pair'
  return message.includes('\0') ? 'holds the character U+0000' : null
}

/** Returns the session that answers a call, with what makes it. */
function childCall(
  { sessionId, mcpDepth }: Asking,
  { agentId, message, call: { key, callId } }: { agentId: string; message: string; call: StartedCall },
): ChildCall {
  const { replyId: parentReply, place } = placeOfCall(key)
  const child = { sessionId: childSession(key), ...childMessages(key), agentId, message }
  return { ...child, parentSession: sessionId, parentReply, place, callId, title: deriveTitle(message), mcpDepth }
}

/** Makes the child of a call. Resolves to why it cannot be made; null when it is there. */
async function openChild(
  store: ChildStore,
  asking: Asking,
  asked: { agentId: string; message: string; call: AskedCall },
): Promise<Exclude<Opened, 'open'> | null> {
  const opened = await store.open(childCall(asking, asked))
  return opened === 'open' ? null : opened
}

/** A call whose child is waited for. */
interface Leaving {
  sessionId: string
  mayLeave(): boolean
}

/**
 * Hands over the replies that wait for nothing but children, as at a boundary. Others come to that later: it looks
 * until the end.
 */
async function leave(host: Host, asked: ReadonlySet<Leaving>, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const sessions = [...Map.groupBy(asked, (one) => one.sessionId)]
    const ready = sessions.flatMap(([id, calls]) => (calls.every((one) => one.mayLeave()) ? [id] : []))
    const replies = [...host.byReply.values()].map(({ reply }) => reply.log.info)
    const leaving = replies.filter((reply) => ready.includes(reply.sessionId))
    await Promise.all(leaving.map((reply) => endsAtBoundary(host, { reply, isStored: true })))
    await pause(LOOK_MS)
  }
}

export function createChildren(host: Host, { store, generate, again }: ChildrenOptions): Children {
  const waits = createWaits(store.states)
  let hasLeft = false
  let isOver = false
  const asked = new Set<Leaving>()

  const begin = (parentReply: string | null): Promise<void> =>
    host.inTurn(async () => {
      if (host.draining || !host.options.gate.check()) return
      for (const replyId of await store.begin(parentReply, host.options.maxRunning)) generate(replyId)
    })

  async function end(): Promise<void> {
    endThose(await store.end())
  }

  function endThose(ending: readonly ToEnd[]): void {
    for (const { replyId } of ending) cancelReply(host, replyId)
    if (ending.length > 0) host.options.exchange.wake([...new Set(ending.map(({ instanceId }) => instanceId))])
  }

  async function ask(asking: Asking, agentId: string, message: string, call: AskedCall): Promise<ToolAnswer> {
    const unusable = whyUnusable(message)
    if (unusable !== null) return failed(`The agent was not asked: the message ${unusable}.`)
    const waiting = waits.open(asking.sessionId, call.isAlone)
    try {
      const refused = call.joins ? null : await again(() => openChild(store, asking, { agentId, message, call }))
      if (refused !== null) return notOpened(refused)
      return await answerOf(asking.sessionId, waiting, call)
    } finally {
      waits.over(waiting)
    }
  }

  /** Waits for a child that is there. */
  async function answerOf(sessionId: string, waiting: WaitingCall, { key, mayLeave, signal }: AskedCall) {
    const { replyId: parentReply } = placeOfCall(key)
    // `tend` begins it later if it cannot begin now.
    await begin(parentReply).catch(() => {})
    const one = { sessionId, mayLeave }
    asked.add(one)
    try {
      const result = resultOf(await waits.end(waiting, childSession(key), signal))
      // The next one takes its place.
      if (!result.waits) void begin(parentReply).catch(() => {})
      return result
    } catch (error) {
      hasLeft = true
      throw error
    } finally {
      asked.delete(one)
    }
  }

  return {
    async within(asking) {
      if ((await again(() => store.depth(asking.sessionId))) >= MOST_DEEP) return null
      return {
        notes: (agentId, key) => callNotes({ agentId, sessionId: childSession(key) }),
        start: (agentId, message, call) =>
          whyUnusable(message) === null ? store.rowOf(childCall(asking, { agentId, message, call })) : undefined,
        ask: (agentId, message, call) => ask(asking, agentId, message, call),
      }
    },
    async onDrain({ type }) {
      if (type === 'over') isOver = true
      else leave(host, asked, () => isOver).catch(() => {})
    },
    onEnd() {
      if (waits.size() > 0) waits.wake()
      if (!hasLeft) return
      hasLeft = false
      end().catch(() => {})
    },
    async onCancel(sessionId) {
      endThose(await store.cancel(sessionId))
    },
    async tend() {
      await begin(null)
      await end()
      await store.follow()
    },
  }
}
