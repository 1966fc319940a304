/** Tool calls as they are made, and their results as they are emitted. */

import { unlessAborted } from '../../async/unless-aborted.ts'
import type { CallOfTool, DecidedCall, OwnTool, ToolAnswer, Toolbox } from '../ports/index.ts'
import type { ObservedToolCall, ReplyObserver, ToolCallEvent } from '../ports/observer.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'
import type { Running } from './running.ts'
import { cleanText } from './text-cleaner.ts'

export type ToolResult = Omit<Extract<ReplyEvent, { type: 'tool_result' }>, 'type' | 'id'> &
  Pick<ToolAnswer, 'pictures' | 'asked' | 'waits'>

interface CallPlace {
  toolbox: Toolbox
  /** See `Toolbox`. */
  key: string
  /** Absent when nobody was asked. */
  decision?: DecidedCall['decision']
}

/** Returns the agent's tool that a call goes to. Undefined when it goes to none. */
export const ownToolOf = ({ own }: Toolbox, { name, tool }: Omit<CallOfTool, 'id'>): OwnTool | undefined =>
  tool === undefined ? own?.get(name) : own?.values().find(({ key }) => key === tool)

/** Makes a call, observed and timed. Rejects on abort. */
export async function makeCall(
  call: CallOfTool,
  { toolbox, key, decision }: CallPlace,
  { observer, signal }: Pick<Running, 'observer' | 'signal'>,
): Promise<ToolResult> {
  const begin = performance.now()
  const notes = ownToolOf(toolbox, call)?.notes?.(key)
  const observed = { ...call, ...(decision !== undefined && { decision }), ...(notes && { notes: notes.step }) }
  const work = () => unlessAborted(toolbox.call(call, signal, key), signal)
  const { ok, content, pictures, asked, waits } = await observedCall(observer, observed, work)
  const durationMs = Math.round(performance.now() - begin)
  const open = { ...(asked && { asked }), ...(waits && { waits }) }
  return { ok, content: cleanText(content), durationMs, ...(pictures && { pictures }), ...open }
}

/** Returns the result of a call that is not made. */
export const notMade = (content: string): ToolResult => ({ ok: false, content, durationMs: 0 })

/**
 * Emits the result of a call that was made, or its server's question, as soon as it comes, and keeps its pictures: what
 * is stored is not lost. The result of a call that was not made waits for those before it. Resolves to the contents, in
 * the order of the calls.
 */
export async function emitResults(
  calls: readonly { id: string; isMade: boolean }[],
  results: readonly Promise<ToolResult | null>[],
  { take, pictures: seen }: Pick<Running, 'take' | 'pictures'>,
): Promise<(string | null)[]> {
  const emitted: Promise<string | null>[] = []
  for (const [index, { id, isMade }] of calls.entries()) {
    const before = [...emitted]
    const emit = async () => {
      const result = (await results[index]) ?? null
      if (!isMade) await Promise.all(before)
      if (result === null) return null
      const { pictures = [], asked, waits, ...stored } = result
      if (waits) return null
      if (asked) {
        await take([{ type: 'tool_asked', id, asked }])
        return null
      }
      seen.keep(id, pictures)
      await take([{ type: 'tool_result', id, ...stored }])
      return result.content
    }
    emitted.push(emit())
  }
  return await Promise.all(emitted)
}

/** Characters of a failure that observers are told. */
const MAX_ERROR = 500

/** Reports a call to the observer. Rejects as the call does; that counts as a failure too. */
async function observedCall(
  observer: ReplyObserver,
  call: ObservedToolCall,
  work: () => ReturnType<Toolbox['call']>,
): ReturnType<Toolbox['call']> {
  const observed = observer.toolCall(call)
  let end: ToolCallEvent = { type: 'ended', ok: false }
  try {
    const result = await observed.within(work)
    const { ok, content } = result
    end = { type: 'ended', ok, ...(!ok && { error: content.slice(0, MAX_ERROR).toWellFormed() }) }
    return result
  } finally {
    observed.on(end)
  }
}
