/** The tool calls of a reply's outline, and what became of them: what its writer is told, and when. */
import { neverMade } from '../../actors/history/decided-calls.ts'
import { unknownOutcome } from '../../actors/history/tool-turns.ts'
import type { FinishReason, ReplyError, ReplyEvent, ServerAsked, UnmadeKind } from '../../actors/reply/reply-event.ts'
import { childOf } from '../../features/children/index.ts'
import type { PendingCall } from '../../features/sessions/index.ts'

/** Each run of one kind is a part of its own. */
export type TextKind = 'text' | 'reasoning'

/** A call, with the remembered decision that settled it, and what its tool adds (`childOf`). Its arguments may not parse. */
export type OutlinedCall = Pick<CallEvent, 'id' | 'name' | 'arguments' | 'by'>

/** The writer of a reply, called in order. Parts are numbered from 0 through the whole reply. */
export interface OutlineWriter {
  started(): void
  stepStarted(): void
  stepFinished(): void
  partStarted(kind: TextKind, part: number): void
  delta(kind: TextKind, text: string): void
  partFinished(kind: TextKind, part: number): void
  called(call: OutlinedCall): void
  /** Writes a result. `ok` is null when the reply ended before a result was stored. */
  answered(call: OutlinedCall, ok: boolean | null, content: string): void
  /** Writes that the reply ends, and the call waits until it is approved or rejected. */
  asked(call: OutlinedCall): void
  /** Writes that the reply ends, and the call waits for answers to what its server asks. */
  questioned(call: OutlinedCall, asked: ServerAsked): void
  /** Writes that the reply ends, and the call waits for decisions about what sessions below it ask. */
  askedBelow(call: OutlinedCall, entries: readonly PendingCall[]): void
  /** Writes that the call is decided, and the next reply carries it out: `answered` or `denied` follows. */
  decided(call: OutlinedCall, decision: ShownDecision): void
  denied(call: OutlinedCall, reason: string): void
  finished(reason: FinishReason): void
  failed(error: ReplyError): void
  done(): void
}

export interface ShownDecision {
  approved: boolean
  reason: string | null
}

export interface ShownResult {
  /** See `OutlineWriter.answered`. */
  ok: boolean | null
  denied: boolean
  text: string
}

/** The stored outcome of a call that waited. */
export interface CallOutcome {
  /** The decision; null while the call waits for a decision. */
  decided: ShownDecision | null
  /** The result that is shown where no reply of the outline says it. Null when the call still waits. */
  result: ShownResult | null
}

const unanswered = (text: string): ShownResult => ({ ok: null, denied: false, text })
export const notMade = unanswered(neverMade)
/** In fewer words than the model gets. */
export const outcomeUnknown = unanswered(
  'The outcome is unknown: the reply ended before a result of this call was stored.',
)

export type CallEvent = Extract<ReplyEvent, { type: 'tool_call' }>
type ResultEvent = Extract<ReplyEvent, { type: 'tool_result' | 'tool_unknown' }>
export type Outcomes = ReadonlyMap<string, CallOutcome>

/** Returns the calls without a result. */
export function createCalls(write: OutlineWriter, outcomes: Outcomes) {
  const open = new Map<string, CallEvent>()
  const begun = new Set<string>()
  /** The questions of servers, by call. Null in a copy, where nobody may answer. */
  const questions = new Map<string, ServerAsked | null>()
  /** The calls that wait with the sessions that answer them. */
  const kept = new Set<string>()
  const hasOther = ({ id }: CallEvent) => questions.has(id) || kept.has(id)
  const waiting = (kind: UnmadeKind) => [...open.values()].filter((call) => call.waits === kind && !hasOther(call))
  const tellDecision = ({ waits, ...call }: CallEvent) => {
    const decision = outcomes.get(call.id)?.decided
    if (decision && (waits === 'approval' || !decision.approved)) write.decided(call, decision)
  }
  const isUnheld = (call: CallEvent) => call.waits === undefined && !hasOther(call)
  const isMade = (call: CallEvent) => isUnheld(call) || begun.has(call.id)
  const keep = ({ id }: CallEvent) => {
    kept.add(id)
    begun.delete(id)
  }
  /** Closes a call whose result no reply brings any more. A call that waited had no effect before it began. */
  const end = (call: CallEvent) => {
    open.delete(call.id)
    const { ok, denied, text } = isMade(call) ? outcomeUnknown : (outcomes.get(call.id)?.result ?? notMade)
    if (denied) write.denied(call, text)
    else write.answered(call, ok, text)
  }
  return {
    waiting,
    open(call: CallEvent): OutlinedCall {
      open.set(call.id, call)
      return call
    },
    begin: (id: string) => void begun.add(id),
    ask(id: string, asked: ServerAsked | null): void {
      questions.set(id, asked)
      begun.delete(id)
    },
    questioned: () =>
      [...open.values()].flatMap((call) => {
        const asked = questions.get(call.id)
        return asked && !outcomes.get(call.id)?.decided ? [{ call, asked }] : []
      }),
    /** Returns false when no such call is open. */
    answer(result: ResultEvent): boolean {
      const call = open.get(result.id)
      if (call === undefined) return false
      open.delete(result.id)
      tellResult(result, call, write)
      return true
    },
    isEmpty: () => open.size === 0,
    /** Returns whether a session answers a call that has no result. */
    asksAny: () => [...open.values()].some((call) => kept.has(call.id) || (childOf(call) && isMade(call))),
    keepsAny: () => [...open.keys()].some((id) => kept.has(id)),
    /** Returns the calls that wait with sessions below, with what those ask. */
    asking: (below: readonly PendingCall[]) =>
      [...Map.groupBy(below, ({ path }) => path?.[0]?.call_id ?? '')].flatMap(([id, entries]) => {
        const call = open.get(id)
        return call ? [{ call, entries }] : []
      }),
    tellDecisions: () => [...open.values()].forEach(tellDecision),
    /** Ends the calls. `waits`: pending calls stay. */
    end(waits: boolean): void {
      for (const call of [...open.values()]) {
        if (waits && childOf(call) && isMade(call)) keep(call)
        else if (!waits || isUnheld(call)) end(call)
      }
    },
    settle(): void {
      for (const call of [...open.values()]) {
        if (!outcomes.get(call.id)?.result) continue
        tellDecision(call)
        end(call)
      }
    },
  }
}

/** Holds back calls. The calls of a turn that holds some of the caller's own are shown when it is the caller's turn. */
export function createHeld() {
  let held: CallEvent[] = []
  return {
    hold: (call: CallEvent) => void held.push(call),
    take: () => held.splice(0),
    drop(): void {
      held = []
    },
  }
}

function tellResult(one: ResultEvent, call: OutlinedCall, write: OutlineWriter): void {
  if (one.type === 'tool_unknown') write.answered(call, null, unknownOutcome)
  else if (one.denied) write.denied(call, one.content)
  else write.answered(call, one.ok, one.content)
}

/**
 * Shows the approvals that wait, else the questions, and what sessions below ask beside them. Returns false when nothing of
 * this waits: it is the caller's turn.
 */
export function showAsked(
  calls: ReturnType<typeof createCalls>,
  below: readonly PendingCall[],
  write: OutlineWriter,
): boolean {
  const approvals = calls.waiting('approval')
  for (const call of approvals) write.asked(call)
  const questions = approvals.length > 0 ? [] : calls.questioned()
  for (const { call, asked } of questions) write.questioned(call, asked)
  for (const { call, entries } of calls.asking(below)) write.askedBelow(call, entries)
  return approvals.length > 0 || questions.length > 0 || calls.keepsAny()
}
