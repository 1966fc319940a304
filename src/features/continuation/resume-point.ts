/**
 * The point from which a reply goes on that another instance began (contract section 21): read from its events and its
 * stored turns. Whole turns stay, a call without a result is never made again, a text that was interrupted is gone on
 * behind. Pure.
 */

import { answerOf, messagesOf } from '../../actors/generate/open-turn.ts'
import type { Resumption } from '../../actors/generate/running.ts'
import { nothingUsed } from '../../actors/generate/usage-tally.ts'
import { decisionText, resultText } from '../../actors/history/decided-calls.ts'
import { unknownOutcome } from '../../actors/history/tool-turns.ts'
import type {
  CallOfTool,
  Chain,
  DecidedCall,
  OpenTurn,
  StoredTurn,
  TurnMessage,
  WaitingCall,
} from '../../actors/ports/index.ts'
import { callKey } from '../../actors/reply/call-key.ts'
import { isSent, type ReplyEvent, type ServerAsked } from '../../actors/reply/reply-event.ts'
import type { Claimed } from './handovers.ts'

export interface ResumePoint extends Omit<Resumption, 'beginAgain' | 'goOnBehind'> {
  /** The interrupted turn's reasoning, as far as it was stored. */
  reasoning: string
  /** Calls whose outcome is unknown, for readers to see. */
  unknown: readonly string[]
  /** Calls that other sessions answer: their results are waited for. */
  open: readonly OpenCall[]
  /** Calls that were rejected, or answered by their decision, for readers to see. */
  notMade: readonly DecidedCall[]
  /** Set when the reply had ended to wait, and only that was not stored. */
  wait: Chain | null
}

/** A call that another session answers. `key`: see `Toolbox`. */
export interface OpenCall extends CallOfTool {
  key: string
}

type CallEvent = Extract<ReplyEvent, { type: 'tool_call' }>

/** A turn of calls as events show it. */
interface SeenTurn {
  text: string
  calls: CallEvent[]
}

/** Reads the turns of a reply in its events. */
function readEvents(events: readonly { event: ReplyEvent }[]) {
  const turns: SeenTurn[] = []
  const results = new Map<string, string>()
  const unknown = new Set<string>()
  const begun = new Set<string>()
  const asked = new Map<string, ServerAsked>()
  let text = ''
  let reasoning = ''
  let model: ResumePoint['model'] = null
  let lacksTools = false
  let isCalling = false
  for (const { event } of events) {
    if (event.type === 'tool_call') {
      if (!isCalling) turns.push({ text, calls: [] })
      turns.at(-1)?.calls.push(event)
      isCalling = true
      text = ''
      reasoning = ''
      continue
    }
    isCalling = false
    switch (event.type) {
      case 'text':
        text += event.text
        break
      case 'reasoning':
        reasoning += event.text
        break
      case 'tool_result':
        results.set(event.id, event.content)
        break
      case 'tool_unknown':
        unknown.add(event.id)
        break
      case 'tool_asked':
        if (event.asked) asked.set(event.id, event.asked)
        break
      case 'tool_begun':
        begun.add(event.id)
        break
      case 'model':
        model = { model: event.model, providerId: event.providerId }
        if (event.missing) lacksTools = event.missing.length > 0
        break
      default:
        event satisfies never
    }
  }
  return { turns, results, unknown, begun, asked, text, reasoning, model, lacksTools }
}

type Seen = ReturnType<typeof readEvents>

/** The finder of the agent whose session answers a call. Undefined where no session does. */
export type AgentOf = (call: CallEvent) => string | undefined

/** Returns the calls that other sessions answer and that have no result: of this reply, and those that were approved. */
function openCalls(replyId: string, seen: Seen, continued: Claimed['continued'], agentOf: AgentOf): OpenCall[] {
  const isOpen = (id: string) => !seen.results.has(id) && !seen.unknown.has(id)
  const calls = seen.turns.flatMap((turn) => turn.calls)
  const own = calls.flatMap((call, index) => {
    const { id, name, arguments: text, waits } = call
    const agentId = agentOf(call)
    if (agentId === undefined || waits !== undefined || !isOpen(id)) return []
    return [{ id, name, arguments: text, tool: `${AGENT}${agentId}`, key: callKey({ replyId, place: index + 1 }) }]
  })
  const waiting = continued?.carried.chain.turn.waiting ?? []
  const begun = (continued?.decisions ?? []).flatMap((one): OpenCall[] => {
    const call = waiting.find((other) => other?.id === one.id)
    if (!call?.tool?.startsWith(AGENT) || !seen.begun.has(one.id) || !isOpen(one.id)) return []
    const { id, name, tool } = call
    return [{ id, name, tool, joins: one.joins, arguments: one.arguments ?? call.arguments, key: callKey(call) }]
  })
  return [...begun, ...own]
}

/** The beginning of the key of a tool that asks an agent. */
const AGENT = 'agent:'

/** The outcome of open calls, by their ids. */
export interface Joined {
  results: ReadonlyMap<string, string>
  /** Calls whose sessions wait themselves, with the kind of their wait. */
  waiting: ReadonlyMap<string, string>
}

const nothingJoined: Joined = { results: new Map(), waiting: new Map() }

/** Reads the point. `joined`: what became of open calls. */
export function resumePoint(
  { reply, events, turns: stored, continued, noted, providerId }: Claimed,
  agentOf: AgentOf,
  joined: Joined = nothingJoined,
): ResumePoint {
  const seen = readEvents(events)
  const open = openCalls(reply.id, seen, continued, agentOf)
  const unknown: string[] = []
  const resultOf = (id: string): string => {
    const result = seen.results.get(id) ?? joined.results.get(id)
    if (result === undefined && !seen.unknown.has(id) && !open.some((call) => call.id === id)) unknown.push(id)
    return result ?? unknownOutcome
  }
  const notMade: DecidedCall[] = []
  const outcomeOf = (one: DecidedCall): string => {
    if (isSent(one.decision)) return resultText(resultOf(one.id), one.arguments)
    if (!seen.results.has(one.id) && !seen.unknown.has(one.id)) notMade.push(one)
    return decisionText(one)
  }
  const decided = continued === null ? null : decidedTurn(continued, seen, { outcomeOf, waiting: joined.waiting })
  const said: TurnMessage[] = [...(continued?.carried.chain.turns ?? []), ...(decided ? messagesOf(decided) : [])]
  let spent = continued?.carried.chain.callsUsed ?? 0
  let calls = 0
  let wait: Chain | null = decided?.waiting.some((one) => one !== null)
    ? { turns: continued?.carried.chain.turns ?? [], turn: decided, callsUsed: spent }
    : null
  let newest: StoredTurn | null = null
  let turns = 0
  for (const turn of seen.turns) {
    const known: StoredTurn | null = stored.find((one) => isOf(one, turn)) ?? null
    const open = openTurn(turn, known, {
      replyId: reply.id,
      before: calls,
      asked: seen.asked,
      waits: joined.waiting,
      agentOf,
      resultOf,
    })
    calls += turn.calls.length
    spent = known?.spent ?? spent + turn.calls.length
    newest = known ?? newest
    turns += 1
    if (open.waiting.some((one) => one !== null)) wait = { turns: [...said], turn: open, callsUsed: spent }
    said.push(...messagesOf(open))
  }
  return {
    said,
    spent,
    calls,
    turns,
    text: seen.text,
    reasoning: seen.reasoning,
    unknown,
    open,
    notMade,
    isFirstCall: seen.turns.length === 0,
    hasDecided: decided !== null,
    lacksTools: seen.lacksTools,
    wait,
    used: newest?.used ?? nothingUsed,
    attempts: Math.max(noted.attempts, newest?.attempts ?? 0),
    firstTokenMs: newest?.firstTokenMs ?? noted.firstTokenMs,
    reasoningMs: newest?.reasoningMs ?? null,
    model: seen.model ?? (providerId === null ? null : { model: reply.model, providerId }),
  }
}

const isOf = ({ turn: { answer } }: StoredTurn, { calls }: SeenTurn): boolean =>
  answer.toolCalls?.some(({ id }) => id === calls[0]?.id) ?? false

interface TurnContext {
  replyId: string
  /** Calls of the reply before this turn's. */
  before: number
  asked: ReadonlyMap<string, ServerAsked>
  waits: Joined['waiting']
  agentOf: AgentOf
  resultOf(id: string): string
}

/**
 * Returns a turn with its results. Only the calls that were shown count: the others were never made. Where the turn
 * itself was not stored, nothing of it was made either, and what its vendor wants back is not there.
 */
function openTurn(
  { text, calls }: SeenTurn,
  known: StoredTurn | null,
  { replyId, before, asked, waits, agentOf, resultOf }: TurnContext,
): OpenTurn {
  const shown = new Set(calls.map(({ id }) => id))
  const answer = known
    ? { ...known.turn.answer, toolCalls: (known.turn.answer.toolCalls ?? []).filter(({ id }) => shown.has(id)) }
    : answerOf(text, calls, undefined)
  const waiting = calls.map((event, index): WaitingCall | null => {
    const { id, name, arguments: given, waits: unmade } = event
    const question = asked.get(id)
    const call = { id, name, arguments: given, replyId, place: before + index + 1 }
    const kind = waits.get(id)
    const agentId = agentOf(event)
    if (kind !== undefined && agentId !== undefined) return { ...call, kind, tool: `${AGENT}${agentId}` }
    if (question) return { ...call, kind: 'input', asked: question }
    if (unmade === undefined) return null
    const stored = known?.turn.waiting.find((one) => one?.id === id)
    return stored ?? { ...call, kind: unmade }
  })
  return { answer, waiting, results: calls.map(({ id }, index) => (waiting[index] ? null : resultOf(id))) }
}

/** Returns the turn that was decided about, with what became of its calls. Null when nothing was done about it yet. */
function decidedTurn(
  { carried, decisions }: NonNullable<Claimed['continued']>,
  { begun, results, unknown, asked }: Seen,
  { outcomeOf, waiting }: { outcomeOf: (decided: DecidedCall) => string; waiting: Joined['waiting'] },
): OpenTurn | null {
  const { turn } = carried.chain
  const isDone = decisions.some(({ id }) => begun.has(id) || results.has(id) || unknown.has(id))
  if (!isDone) return null
  const settled = decisions.filter(({ id }) => !asked.has(id) && !waiting.has(id))
  const texts = new Map(settled.map((one) => [one.id, outcomeOf(one)]))
  return {
    ...turn,
    results: turn.results.map((result, index) => result ?? texts.get(turn.waiting[index]?.id ?? '') ?? null),
    waiting: turn.waiting.map((call) => {
      if (call === null || texts.has(call.id)) return null
      const kind = waiting.get(call.id)
      if (kind !== undefined) return { ...call, kind }
      return asked.has(call.id) ? { ...call, kind: 'input', asked: asked.get(call.id) } : call
    }),
  }
}
