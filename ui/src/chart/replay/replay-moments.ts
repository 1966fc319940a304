/** A session's past as moments to stop at: its steps, and between them what its tools did. Pure. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { pathTo } from '../../playground/transcript/branches.ts'
import { isRunning } from '../machine.ts'
import { isNote } from '../note-words.ts'
import type { Step } from '../step.ts'

type Message = components['schemas']['PlaygroundMessage']

export interface ToolMoment {
  name: string
  id: string
  /** Null when it begins. */
  ok: boolean | null
}

export interface Moment {
  /** The moment's name in the address: the step's `seq`, with `.1`, `.2` … for tools after it; `start`. */
  id: string
  /** Null before the first step. */
  at: string | null
  /** Innermost state of the actor. */
  state: string
  /** The newest step; null before the first. */
  step: Step | null
  tool: ToolMoment | null
  messageId: string | null
}

const startId = 'start'

/** Returns the moments of a session. `initial`: the chart's initial state, for a session without steps. */
export function momentsOf(steps: readonly Step[], messages: readonly Message[], initial: string): Moment[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const moments: Moment[] = [
    { id: startId, at: null, state: steps[0]?.from ?? initial, step: null, tool: null, messageId: null },
  ]
  let messageId: string | null = null
  // Messages tell of tools, with their results.
  const shown = steps.filter((step) => !(isNote(step) && step.event === 'tool'))
  for (const [index, step] of shown.entries()) {
    messageId = step.messageId ?? messageId
    const base = { state: step.to, step, messageId }
    moments.push({ ...base, id: String(step.seq), at: step.at, tool: null })
    const message = messageId === null ? undefined : byId.get(messageId)
    if (message === undefined || !isRunning(step.to)) continue
    for (const [count, { at, tool }] of toolsBetween(message, step.at, shown[index + 1]?.at ?? null).entries()) {
      moments.push({ ...base, id: `${step.seq}.${count + 1}`, at, tool })
    }
  }
  return moments
}

/** Returns the tool activity between the times of two steps, in order. Calls without a time are left out. */
function toolsBetween({ toolCalls }: Message, from: string, to: string | null): { at: string; tool: ToolMoment }[] {
  const begin = Date.parse(from)
  const end = to === null ? Number.POSITIVE_INFINITY : Date.parse(to)
  return toolCalls
    .flatMap(({ id, name, ok, startedAt, durationMs }) => {
      if (startedAt === null) return []
      const started = Date.parse(startedAt)
      const call = { ms: started, tool: { id, name, ok: null } }
      return durationMs === null ? [call] : [call, { ms: started + durationMs, tool: { id, name, ok: ok === true } }]
    })
    .filter(({ ms }) => ms >= begin && ms < end)
    .sort((one, other) => one.ms - other.ms)
    .map(({ ms, tool }) => ({ at: new Date(ms).toISOString(), tool }))
}

export interface SeenMessage {
  message: Message
  /** True while its outcome is not stored yet: the text at this moment is not known. */
  running: boolean
  /** Ids of the tool calls that have begun, and of those that have ended. */
  begun: ReadonlySet<string>
  ended: ReadonlySet<string>
}

/** Returns the path at the moment `index`: that of the reply which the steps name, since clocks differ. */
export function messagesAt(moments: readonly Moment[], index: number, messages: readonly Message[]): SeenMessage[] {
  const moment = moments[index]
  if (moment === undefined) return []
  const named = moment.messageId ?? moments.find(({ messageId }) => messageId !== null)?.messageId
  const path = pathTo(messages, named ?? null)
  // Before the first step of a reply neither it nor the message that it answers was there.
  const count = moment.messageId === null ? Math.max(0, path.length - 2) : path.length
  const isLast = (at: number) => at === count - 1 && moment.messageId !== null
  const begun = new Set<string>()
  const ended = new Set<string>()
  for (const { tool, messageId } of moments.slice(0, index + 1)) {
    if (tool !== null && messageId === moment.messageId) (tool.ok === null ? begun : ended).add(tool.id)
  }
  return path
    .slice(0, count)
    .map((message, at) => ({ message, running: isLast(at) && isRunning(moment.state), begun, ended }))
}

const longestGapMs = 4_000
const shortestMs = 140

/**
 * Returns how long the moment `index` is shown while playing: as long as it lasted, within bounds, divided by the
 * speed.
 */
export function playMs(moments: readonly Moment[], index: number, speed: number): number {
  const from = moments[index]?.at
  const to = moments[index + 1]?.at
  const real = from && to ? Date.parse(to) - Date.parse(from) : 600
  return Math.max(shortestMs, Math.min(Math.max(real, 350), longestGapMs) / speed)
}
