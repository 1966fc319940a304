/**
 * A turn that continues an interrupted text. The text is sent as the beginning of the answer where provider and model
 * support that. Otherwise the model is told to continue (contract section 21).
 */
import type { ModelEvent, ModelRequest, Take } from '../../actors/ports/index.ts'
import type { ProviderTypeId } from '../provider-types.ts'
import { anthropicThinking } from '../reasoning.ts'
import { isRefusal } from '../request/optional-fields.ts'
import { withBehind } from '../wire/echoes.ts'
import { problemIn } from '../wire/failure.ts'
import type { Remembered } from '../wire/remembered.ts'
import { isOutput } from '../wire/turn-stream.ts'
import { endsOf, leavingOut, type Repetition } from './behind-text.ts'

const instruction =
  'Your answer was interrupted at this point. Go on with it exactly where it stops: do not repeat any of it, do not begin anew and do not mention the interruption. If it is complete already, answer with nothing.'

/** Provider types whose models accept the beginning of their answer. An unknown server may begin anew after it. */
const takesBeginning: ReadonlySet<string> = new Set<ProviderTypeId>([
  'anthropic',
  'mistral',
  'deepseek',
  'openrouter',
  'ollama',
])

/** Models that refused a beginning, by provider. They are sent the instruction at once. */
export type RefusedBeginnings = Remembered<true>

const nameOf = ({ provider, model }: ModelRequest): string => `${provider.id} ${provider.baseUrl} ${model}`

type Call = (request: ModelRequest, take: Take<ModelEvent>) => Promise<void>

/** Calls once, and once more with the instruction where the provider refuses the beginning. */
export async function goingOn(
  request: ModelRequest,
  refused: RefusedBeginnings,
  take: Take<ModelEvent>,
  call: Call,
): Promise<void> {
  const last = request.messages.at(-1)
  if (last?.role !== 'assistant' || last.isBeginning !== true) return await call(request, take)
  const begun = { role: 'assistant', content: last.content } as const
  if (mayBegin(request, last.content) && !refused.get(nameOf(request))) {
    let sent = false
    const receive: Take<ModelEvent> = (events) => {
      sent ||= events.some(isOutput)
      return take(events)
    }
    try {
      // Mistral's answer includes the beginning.
      const repeated = request.provider.type === 'mistral' ? [last.content] : []
      return await call(request, without(repeated, echoingBehind([begun], receive)))
    } catch (error) {
      // A model that has produced output has refused nothing (contract section 10).
      if (sent || !isRefusedBeginning(error)) throw error
      refused.set(nameOf(request), true)
    }
  }
  const told = [begun, { role: 'user', content: instruction } as const]
  const messages = [...request.messages.slice(0, -1), ...told]
  await call({ ...request, messages }, without(endsOf(last.content), echoingBehind(told, take)))
}

/** Stores the text before the last call in its echo, which covers that call alone. */
const echoingBehind =
  (behind: Parameters<typeof withBehind>[1], take: Take<ModelEvent>): Take<ModelEvent> =>
  (events) =>
    take(
      events.map((event) =>
        event.type === 'end' && event.echo ? { ...event, echo: withBehind(event.echo, behind) } : event,
      ),
    )

/**
 * Decides whether the text may be sent as the beginning of the answer. Never with thinking, which comes before an
 * answer. Claude accepts no beginning that ends with a space, whichever provider serves it.
 */
function mayBegin(request: ModelRequest, text: string): boolean {
  const { provider, model, reasoning, config, fields } = request
  if (!takesBeginning.has(provider.type)) return false
  const isClaude = provider.type === 'anthropic' || /claude/.test(model)
  if (isClaude && text !== text.trimEnd()) return false
  if (provider.type === 'anthropic') return anthropicThinking(request) === null
  const effort = fields?.reasoningEffort ?? config.reasoningEffort ?? 'none'
  return !reasoning && effort === 'none' && !/reason|think|magistral|-r1\b/i.test(model)
}

/**
 * Returns whether the provider refused the beginning. DeepSeek accepts it at an address of its own, which a proxy
 * before it may not have.
 */
function isRefusedBeginning(error: unknown): boolean {
  const problem = problemIn(error)
  if (problem?.status === 404) return true
  const words = /prefill|prefix|assistant (?:message|content)|last (?:message|role)|user message/i
  return problem !== null && isRefusal(problem) && words.test(problem.full)
}

/** Removes repetitions. Text that waits counts as activity: the model has produced something. */
function without(texts: readonly string[], take: Take<ModelEvent>): Take<ModelEvent> {
  if (texts.length === 0) return take
  const repetition = leavingOut(texts)
  return (events) => take(events.flatMap((event) => shown(event, repetition)))
}

function shown(event: ModelEvent, repetition: Repetition): ModelEvent[] {
  if (event.type === 'text') {
    const text = repetition.push(event.text)
    return text === '' ? [{ type: 'activity', output: true }] : [{ type: 'text', text }]
  }
  if (event.type !== 'tool_call' && event.type !== 'end') return [event]
  const rest = repetition.end()
  return rest === '' ? [event] : [{ type: 'text', text: rest }, event]
}
