/** Runs one case of a replay: the question is asked again, and nothing is done. */
import { type Ending, isNotStored } from '../../actors/generate/endings.ts'
import { createGeneration } from '../../actors/generate/generate.ts'
import { historyLimits, storedConversation } from '../../actors/history/history.ts'
import type { History, ModelRequest, OpenToolboxFor } from '../../actors/ports/index.ts'
import { unobserved } from '../../actors/ports/observer.ts'
import { newId } from '../../actors/reply/new-id.ts'
import type { ReplyEvent, Usage } from '../../actors/reply/reply-event.ts'
import type { Host } from '../../actors/session/host.ts'
import { holdsTime, promptToSend } from '../../templates/prompt-template.ts'
import { answering, type RecordedReply, recordedCalls } from './recorded-calls.ts'
import type { CaseEnd, CaseReply, Divergence, TakenCase } from './store/cases.ts'

/** The version of the agent, as a case asks it. */
export interface PreparedCase {
  agentName: string
  request: Omit<ModelRequest, 'messages' | 'tools' | 'toolChoice'>
  openToolbox: OpenToolboxFor
}

export interface CaseDependencies {
  host: Host
  /** Returns what to ask with. Throws an error with words for people where the version does not fit any more. */
  prepare(taken: TakenCase, mediaTypes: readonly string[]): Promise<PreparedCase>
  /** Returns the reply as it was, with those before it back to the question. */
  before(messageId: string): Promise<{ old: CaseReply; replies: readonly RecordedReply[] }>
  costOf(model: string, usage: Usage): Promise<number | null>
}

const nothingBefore: History = { messages: [], isWhole: true, checkpoint: null, before: null }

/** Runs a case until it ends. Null when it was stopped: `signal` aborted, or the lease of this instance was over. */
export async function runCase(deps: CaseDependencies, taken: TakenCase, signal: AbortSignal): Promise<CaseEnd | null> {
  const { old, replies } = await deps.before(taken.messageId)
  const { journal } = deps.host.options
  const parts = await journal.parts(taken.questionId)
  const prepared = await deps
    .prepare(
      taken,
      parts.map(({ mediaType }) => mediaType),
    )
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
  if (prepared instanceof Error)
    return {
      status: 'error',
      old,
      new: null,
      divergence: null,
      error: { code: 'provider_error', message: prepared.message },
    }
  const begin = performance.now()
  const made = await generateCase(deps, taken, prepared, { parts, recorded: recordedCalls(replies), signal })
  const { ending, divergence, usage, model, told } = made
  if (divergence === null && (ending === null || isNotStored(ending))) return null
  const failed = ending?.type === 'failed' ? ending.error : null
  const reply: CaseReply = {
    version: taken.version,
    model,
    ...saidIn(told),
    finishReason: ending?.type === 'finished' ? ending.reason : null,
    usage: { promptTokens: usage.promptTokens, completionTokens: usage.completionTokens },
    cost: await deps.costOf(model, usage),
    durationMs: Math.round(performance.now() - begin),
  }
  if (divergence) return { status: 'diverged', old, new: reply, divergence, error: null }
  if (failed)
    return { status: 'error', old, new: reply, divergence: null, error: { code: failed.code, message: failed.message } }
  return { status: 'complete', old, new: reply, divergence: null, error: null }
}

/** Returns text and calls of a reply's events. */
export const saidIn = (events: readonly ReplyEvent[]): Pick<CaseReply, 'content' | 'toolCalls'> => ({
  content: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
  toolCalls: events.flatMap((event) =>
    event.type === 'tool_call' ? [{ name: event.name, arguments: event.arguments }] : [],
  ),
})

interface Asked {
  parts: Awaited<ReturnType<Host['options']['journal']['parts']>>
  recorded: ReturnType<typeof recordedCalls>
  signal: AbortSignal
}

async function generateCase(
  { host }: CaseDependencies,
  taken: TakenCase,
  { agentName, request, openToolbox }: PreparedCase,
  { parts, recorded, signal }: Asked,
) {
  const { options } = host
  const { sessionId, agentId, user, metadata, at } = taken
  const values = { sessionId, user, metadata, at: at.toISOString() }
  const timeMark = holdsTime(request.system) ? values.at : null
  const maxTokens = request.historyMaxTokens ?? options.historyMaxTokens
  const limits = { ...historyLimits(maxTokens), ...(timeMark !== null && { withTimes: true as const }) }
  const earlier =
    taken.historyEnd < 0 ? nothingBefore : await options.journal.history(sessionId, taken.historyEnd, limits)
  const conversation = storedConversation(earlier, earlier.messages, { content: taken.text, parts }, false, timeMark)
  const id = newId()
  const { provider, model: name, config } = request
  const observer =
    options.observer?.begin({
      ...{ id, purpose: 'reply', sessionId: null, agentId, agentName, agentVersion: taken.version, isReplay: true },
      ...{ model: name, providerId: provider.id, providerType: provider.type, config, origin: null },
    }) ?? unobserved
  const told: ReplyEvent[] = []
  let divergence: Divergence | null = null
  const diverged = new AbortController()
  const { keepTurn: _, compaction: __, ...capabilities } = options.capabilities ?? {}
  const generation = createGeneration(
    { ...request, system: promptToSend(request.system, values, null), messages: [] },
    {
      ...capabilities,
      replyId: id,
      model: options.model,
      openToolbox: async (stopped) =>
        answering(await openToolbox(stopped, values), recorded, (found) => {
          divergence ??= found
          diverged.abort()
        }),
      timeoutMs: options.generationTimeoutMs,
      gate: options.gate,
      observer,
      told: { conversation, maxTokens },
    },
  )
  const stop = AbortSignal.any([signal, diverged.signal])
  let ending: Ending | null = null
  try {
    ending = await generation.run(stop, (events) => {
      told.push(...events)
      return undefined
    })
  } catch (error) {
    if (divergence === null && !signal.aborted) throw error
  } finally {
    const usage = await generation.usage()
    const error = ending?.type === 'failed' ? ending.error : null
    const outcome = ending?.type === 'finished' ? ending.reason : (error?.code ?? 'cancelled')
    observer.on({ type: 'ended', outcome, usage, error })
  }
  const usage = await generation.usage()
  const models = told.flatMap((event) => (event.type === 'model' ? [event.model] : []))
  const seen: Divergence | null = divergence
  // Behind an abort an ending means nothing.
  return { ending: seen || signal.aborted ? null : ending, divergence: seen, usage, model: models.at(-1) ?? name, told }
}
