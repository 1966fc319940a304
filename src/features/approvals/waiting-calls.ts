/**
 * Pending calls (contract section 15): which of a turn's calls are, what is kept meanwhile, and what the
 * model is told of a decision. Pure. Nothing waits in memory: all of it is stored when the reply ends, and a later reply
 * goes on from there.
 */

import { repeatableCall } from '../../actors/history/tool-turns.ts'
import type {
  Chain,
  DecidedCall,
  InForce,
  ModelMessage,
  OpenTurn,
  Toolbox,
  ToolCall,
  ToolChoice,
  ToolSpec,
  TurnMessage,
  WaitingCall,
} from '../../actors/ports/index.ts'
import type { ShownCall, WaitKind } from '../../actors/reply/reply-event.ts'
import { neverMade } from './decided-calls.ts'

export const nothingInForce: InForce = { tools: [], fields: {}, overrides: null }

/** The choices of a reply for calls that are not simply made. */
export interface Actions {
  callerTools: readonly ToolSpec[]
  /** The tool choice of the first model call only. Null stands for the provider's default. */
  toolChoice: ToolChoice | null
  /** False when nothing is stored, so nothing can wait but for the caller, who keeps the history. */
  canWait: boolean
  /** The kinds of pending calls that readers see. */
  shows: Readonly<Record<WaitKind, boolean>>
  /** Calls that count already, in a history that the caller keeps. None by default. */
  callsUsed?: number
  /** The turn to continue. When absent, the reply answers a user's message. */
  continued?: { chain: Chain; decisions: readonly DecidedCall[] } | undefined
}

export const noActions: Actions = {
  callerTools: [],
  toolChoice: null,
  canWait: false,
  shows: { approval: false, caller: false },
}

/** The end of a reply that waits for decisions or results. */
export interface Wait {
  chain: Chain
  shown: readonly ShownCall[]
}

/** Returns the agent's tools and the caller's. The agent's own come first and keep their names. */
export function withCallerTools(own: readonly ToolSpec[], { callerTools }: Actions): ToolSpec[] {
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...callerTools.filter(({ name }) => !names.has(name))]
}

/** Returns what a call waits for. Null if it is the agent's own to make, or to fail. */
export function waitKindOf(
  { name }: ToolCall,
  { tools, own }: Pick<Toolbox, 'tools' | 'own'>,
  { callerTools }: Actions,
): WaitKind | null {
  if (tools.some((tool) => tool.name === name)) return own?.get(name)?.needsApproval ? 'approval' : null
  return callerTools.some((tool) => tool.name === name) ? 'caller' : null
}

/** Returns the calls that are pending now: one kind at a time, approvals first. */
export function pendingOf({ waiting }: OpenTurn): WaitingCall[] {
  const calls = waiting.filter((call) => call !== null)
  const approvals = calls.filter(({ kind }) => kind === 'approval')
  return approvals.length > 0 ? approvals : calls
}

/** Returns the reply's end if calls are pending. Null when the turn is whole. */
export function waitOf(chain: Chain, { shows }: Actions): Wait | null {
  const pending = pendingOf(chain.turn)
  if (pending.length === 0) return null
  const shown = pending.filter(({ kind }) => shows[kind])
  return { chain, shown: shown.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) }
}

/** Returns a whole turn as sent to the model. */
export const messagesOf = ({ answer, results }: OpenTurn): TurnMessage[] => [
  answer,
  ...(answer.toolCalls ?? []).map(({ id }, index): TurnMessage => {
    return { role: 'tool', toolCallId: id, content: results[index] ?? neverMade }
  }),
]

/** Returns the assistant message of a turn. */
export const answerOf = (text: string, calls: readonly ToolCall[], echo: object | undefined): OpenTurn['answer'] => ({
  role: 'assistant',
  content: text,
  toolCalls: calls.map(repeatableCall),
  ...(echo && { echo }),
})

/**
 * Gives each call an id that no earlier call has, of this reply and of the replies that it continues. Models repeat
 * ids, or give none. A call's result, its decision and its place on a page are found only by this id.
 */
export function withOwnIds(calls: readonly ToolCall[], turns: readonly ModelMessage[]): ToolCall[] {
  const used = new Set(
    turns.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : [])).map(({ id }) => id),
  )
  return calls.map((call) => {
    const given = call.id || 'call'
    let id = given
    for (let n = 2; used.has(id); n++) id = `${given}_${n}`
    used.add(id)
    return { ...call, id }
  })
}
