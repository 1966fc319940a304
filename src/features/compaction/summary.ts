/** Asks a model for the summary of a conversation (contract section 19). Nothing of it is shown. */

import { passGate } from '../../actors/generate/endings.ts'
import type { Running } from '../../actors/generate/running.ts'
import { cleanText } from '../../actors/generate/text-cleaner.ts'
import { type CountedTurn, createTally } from '../../actors/generate/usage-tally.ts'
import type { ModelEvent, ModelRequest, Take } from '../../actors/ports/index.ts'
import type { Pace } from '../../actors/ports/observer.ts'
import type { Usage } from '../../actors/reply/reply-event.ts'

export interface Summary {
  text: string
  /** The model that answered. */
  model: string
  usage: Usage
}

/** The part of a summary that a model has sent. */
interface Asked extends CountedTurn {
  model: string
  /** True when it called a tool, or failed. */
  isOver: boolean
  failure: Extract<ModelEvent, { type: 'failed' }>['failure'] | null
}

/** More than any summary (UTF-16 code units). */
const MAX_SUMMARY = 200_000

/**
 * A summary, or the reason for which there is none: in the provider's words when the call failed. The summary counts
 * towards the reply's usage either way.
 */
export type SummaryResult = Summary | { failed: string }

/**
 * Asks for a summary with the agent's own request, without what the caller wants of the answer: a summary has no form,
 * and no limit but the agent's own.
 */
export async function askForSummary(
  sent: Pick<ModelRequest, 'messages' | 'history' | 'tools'>,
  running: Pick<
    Running,
    'request' | 'model' | 'tally' | 'models' | 'observer' | 'signal' | 'stored' | 'notStored' | 'gate'
  >,
): Promise<SummaryResult> {
  await passGate(running)
  const { model, tally, models, observer, signal } = running
  const { fields: _, ...request } = running.request
  const enough = new AbortController()
  const asked: Asked = {
    text: '',
    reasoning: '',
    counted: { promptTokens: 0, completionTokens: 0 },
    end: null,
    model: request.model,
    isOver: false,
    failure: null,
  }
  const own = createTally(request, model)
  const pace: Pace = { firstAt: null, lastAt: 0, texts: 0, longestGapMs: 0 }
  const observed = observer.modelCall('summary')
  tally.begin(sent.messages, asked)
  own.begin(sent.messages, asked)
  const onEvents: Take<ModelEvent> = (events) => {
    for (const event of events) keep(asked, event)
    if (asked.isOver || asked.text.length > MAX_SUMMARY) enough.abort()
    return undefined
  }
  const call = { ...request, ...sent, calls: models.countingOthers(observed.on) }
  try {
    await observed.within(() => model.stream(call, AbortSignal.any([signal, enough.signal]), onEvents))
  } finally {
    observed.on({ type: 'ended', pace, end: asked.failure?.code ?? asked.end })
  }
  signal.throwIfAborted()
  tally.end(asked)
  own.end(asked)
  const text = cleanText(asked.text).trim()
  const failed = whyNone(asked, text)
  return failed === null ? { text, model: asked.model, usage: await own.usage() } : { failed }
}

function keep(asked: Asked, event: ModelEvent): void {
  switch (event.type) {
    case 'text':
      asked.text += event.text
      return
    case 'reasoning':
      asked.reasoning += event.text
      return
    case 'tool_call':
      asked.isOver = true
      return
    case 'usage':
      asked.counted = event.usage
      return
    case 'model':
      asked.model = event.model
      return
    case 'failed':
      asked.failure = event.failure
      return
    case 'end':
      asked.end = event
      return
    case 'activity':
      return
    default:
      event satisfies never
  }
}

/** Returns why there is no summary: half a one would lose what the other half was to keep. Null when it is whole. */
function whyNone({ isOver, failure, end }: Asked, text: string): string | null {
  if (failure !== null) return failure.message
  if (isOver) return 'The model called a tool instead of giving a summary.'
  if (end?.reason !== 'stop' || text === '') return 'The model gave no whole summary.'
  return null
}
