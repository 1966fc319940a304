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

/** What a reply may do about calls that are not simply made. */
export interface Actions {
  callerTools: readonly ToolSpec[]
  /** Applies to the first model call alone. Null stands for the provider's default. */
  toolChoice: ToolChoice | null
  /** False when nothing is stored, so nothing can wait but for the caller, who keeps the history. */
  canWait: boolean
  /** Which calls that wait the readers are shown. */
  shows: Readonly<Record<WaitKind, boolean>>
  /** Calls that count already, in a history that the caller keeps. None by default. */
  callsUsed?: number
  /** When absent, it answers a user's message. */
  continued?: { chain: Chain; decisions: readonly DecidedCall[] } | undefined
}

export const noActions: Actions = {
  callerTools: [],
  toolChoice: null,
  canWait: false,
  shows: { approval: false, caller: false },
}

/** How a reply ends that waits. */
export interface Wait {
  chain: Chain
  shown: readonly ShownCall[]
}

/** The agent's own come first: they keep their names. */
export function withCallerTools(own: readonly ToolSpec[], { callerTools }: Actions): ToolSpec[] {
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...callerTools.filter(({ name }) => !names.has(name))]
}

/** What a call waits for. Null when it is the agent's own to make, or to fail. */
export function waitKindOf(
  { name }: ToolCall,
  { tools, own }: Pick<Toolbox, 'tools' | 'own'>,
  { callerTools }: Actions,
): WaitKind | null {
  if (tools.some((tool) => tool.name === name)) return own?.get(name)?.needsApproval ? 'approval' : null
  return callerTools.some((tool) => tool.name === name) ? 'caller' : null
}

/** The calls that are pending now: one kind at a time, approvals first. */
export function pendingOf({ waiting }: OpenTurn): WaitingCall[] {
  const calls = waiting.filter((call) => call !== null)
  const approvals = calls.filter(({ kind }) => kind === 'approval')
  return approvals.length > 0 ? approvals : calls
}

/** Null when nothing waits, the turn is whole. */
export function waitOf(chain: Chain, { shows }: Actions): Wait | null {
  const pending = pendingOf(chain.turn)
  if (pending.length === 0) return null
  const shown = pending.filter(({ kind }) => shows[kind])
  return { chain, shown: shown.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) }
}

/** A whole turn as the model is shown it. */
export const messagesOf = ({ answer, results }: OpenTurn): TurnMessage[] => [
  answer,
  ...(answer.toolCalls ?? []).map(({ id }, index): TurnMessage => {
    return { role: 'tool', toolCallId: id, content: results[index] ?? neverMade }
  }),
]

/** The assistant's message of a turn. */
export const answerOf = (text: string, calls: readonly ToolCall[], echo: object | undefined): OpenTurn['answer'] => ({
  role: 'assistant',
  content: text,
  toolCalls: calls.map(repeatableCall),
  ...(echo && { echo }),
})

/**
 * Models repeat ids, or give none. Each call gets one that no call before it has, of this reply and those that it goes on
 * from: by it alone a call's result, its decision and its place on a page are found.
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
