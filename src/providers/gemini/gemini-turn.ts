/** One turn of the Gemini API, read chunk by chunk. Pure: no I/O, no time. */

import { randomUUID } from 'node:crypto'
import type { ModelEvent, ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { isCount, type Turn } from '../openai/chat-turn.ts'
import { maxArguments, maxCalls } from '../openai/gathered-calls.ts'
import { malformed, ProviderProblem } from '../wire/failure.ts'
import { problemInStream } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { type End, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity } from '../wire/turn-events.ts'
import { echoes, type Part } from './gemini-body.ts'

const finishReasons: ReasonWords = {
  stop: ['STOP'],
  length: ['MAX_TOKENS'],
  content_filter: [
    ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
    ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
  ],
}

/** Not ends but breaks: the reply is not whole. Those of a call that came out wrong may come out right next time. */
const brokenOff: Record<string, { again: boolean }> = {
  MALFORMED_FUNCTION_CALL: { again: true },
  MALFORMED_RESPONSE: { again: true },
  UNEXPECTED_TOOL_CALL: { again: true },
  TOO_MANY_TOOL_CALLS: { again: false },
  OTHER: { again: false },
  CONTINUATION: { again: false },
}

export function readGeminiTurn(request: Pick<ModelRequest, 'provider' | 'model' | 'reasoning'>): Turn {
  const events: ModelEvent[] = []
  const calls: ToolCall[] = []
  const echo: Part[] = []
  let problem: ProviderProblem | null = null
  let finish: string | null = null
  let usage: End['usage'] = null
  let toolText = 0

  function takePart(part: unknown): void {
    if (!isObject(part)) return
    const signature = typeof part.thoughtSignature === 'string' ? { thoughtSignature: part.thoughtSignature } : {}
    if (isObject(part.functionCall)) {
      addActivity(events, true)
      const call = callIn(part.functionCall)
      toolText += call.arguments.length
      if (toolText > maxArguments) problem = malformed('tool arguments beyond 1 MiB')
      if (calls.length === maxCalls) problem = malformed(`more than ${maxCalls} tool calls`)
      calls.push({ ...call, id: call.id || `call_${randomUUID()}` })
      const args = isObject(part.functionCall.args) ? part.functionCall.args : {}
      echo.push({ functionCall: { name: call.name, args, ...(call.id && { id: call.id }) }, ...signature })
    } else if (typeof part.text === 'string' && part.thought !== true) {
      if (part.text !== '') events.push({ type: 'text', text: part.text })
      else if (signature.thoughtSignature) addActivity(events, true)
      keepText(echo, part.text, signature)
    } else if (request.reasoning && typeof part.text === 'string' && part.text !== '') {
      events.push({ type: 'reasoning', text: part.text })
    } else if (part.text !== '') addActivity(events, true)
  }
  function takeChunk(chunk: Fields): void {
    const counted = usageIn(chunk.usageMetadata)
    if (counted) {
      usage = counted
      events.push({ type: 'usage', usage: counted })
    }
    const candidate = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined
    const { content, finishReason, finishMessage } = isObject(candidate) ? candidate : {}
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    for (const part of parts) takePart(part)
    if (typeof finishReason === 'string') stop(finishReason, finishMessage)
    // A prompt that was refused has no candidate at all.
    if (isObject(chunk.promptFeedback) && typeof chunk.promptFeedback.blockReason === 'string') finish = 'SAFETY'
    addActivity(events)
  }
  function stop(finishReason: string, message: unknown): void {
    finish = finishReason
    const broken = brokenOff[finishReason]
    if (!broken) return
    const reason = `the model stopped with ${finishReason}${typeof message === 'string' ? `: ${message}` : ''}`
    problem = new ProviderProblem({ kind: 'reported', reason, retry: broken.again })
  }
  return {
    events,
    problem: () => problem,
    done: () => false, // no `[DONE]`: the stream just ends
    finished: () => finish !== null,
    take(data) {
      if (problem || data === '') return
      const chunk = parse(data)
      // Without `alt=sse`, and in errors, chunks come as a list.
      for (const one of Array.isArray(chunk) ? chunk : [chunk]) {
        if (!isObject(one)) problem = malformed(data)
        else if (one.error) problem = problemInStream(one.error, data)
        else if (one.candidates || one.usageMetadata || one.promptFeedback) takeChunk(one)
        else problem = malformed(data)
      }
    },
    alive: () => addActivity(events),
    close: () =>
      turnEnd(
        reasonIn(finishReasons, finish),
        usage,
        () => calls,
        () => echoes.keep(request, echo),
      ),
  }
}

/** Gemini sends a call whole; models before 3 without an id. */
const callIn = ({ id, name, args }: Fields): ToolCall => ({
  id: typeof id === 'string' ? id : '',
  name: typeof name === 'string' ? name : '',
  arguments: JSON.stringify(isObject(args) ? args : {}),
})

/** Neighbours become one part, but not one that is signed: a signature is for its part alone. */
function keepText(echo: Part[], text: string, signature: { thoughtSignature?: string }): void {
  const last = echo.at(-1)
  if (last?.text !== undefined && !last.thoughtSignature && !signature.thoughtSignature) last.text += text
  else if (text !== '' || signature.thoughtSignature) echo.push({ text, ...signature })
}

/** The prompt's count has the cached tokens in it; thoughts are billed as text is. */
function usageIn(usage: unknown): End['usage'] {
  if (!isObject(usage) || !isCount(usage.promptTokenCount)) return null
  const count = (name: string): number => (isCount(usage[name]) ? usage[name] : 0)
  return {
    promptTokens: usage.promptTokenCount + count('toolUsePromptTokenCount'),
    completionTokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),
  }
}
