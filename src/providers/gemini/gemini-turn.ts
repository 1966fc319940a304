/** A turn of the Gemini API, read chunk by chunk. Pure: no I/O, no time. */

import { randomUUID } from 'node:crypto'
import type { ModelEvent, ModelRequest, ToolCall } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { argumentsOf } from '../request/exchanges.ts'
import { beyondLimit, malformed, ProviderProblem } from '../wire/failure.ts'
import { MAX_ARGUMENTS, MAX_CALLS } from '../wire/growing-call.ts'
import { argumentsIn, meantArguments } from '../wire/meant-arguments.ts'
import { errorIn, problemInStream, problemOfText } from '../wire/provider-errors.ts'
import { type Fields, parse } from '../wire/provider-json.ts'
import { geminiUsage } from '../wire/reported-usage.ts'
import { type End, isUnknownEnd, type ReasonWords, reasonIn, turnEnd } from '../wire/turn-end.ts'
import { addActivity, type Turn } from '../wire/turn-stream.ts'
import { echoes, type Part } from './gemini-body.ts'
import { ownName } from './gemini-names.ts'

const finishReasons: ReasonWords = {
  stop: ['STOP'],
  length: ['MAX_TOKENS'],
  content_filter: [
    ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
    ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
  ],
}

/** Finish reasons of incomplete replies. A malformed call may succeed when it is tried again. */
const brokenOff: Record<string, { again: boolean }> = {
  MALFORMED_FUNCTION_CALL: { again: true },
  MALFORMED_RESPONSE: { again: true },
  UNEXPECTED_TOOL_CALL: { again: true },
  TOO_MANY_TOOL_CALLS: { again: false },
  OTHER: { again: false },
  CONTINUATION: { again: false },
}

export function readGeminiTurn(request: Pick<ModelRequest, 'provider' | 'model' | 'reasoning' | 'tools'>): Turn {
  const events: ModelEvent[] = []
  const calls: ToolCall[] = []
  const echo: Part[] = []
  let problem: ProviderProblem | null = null
  let finish: string | null = null
  let usage: End['usage'] = null
  let toolText = 0
  let made = false
  let refusal: string | null = null

  function takePart(part: unknown): void {
    if (!isObject(part)) return
    made = true
    const signature = typeof part.thoughtSignature === 'string' ? { thoughtSignature: part.thoughtSignature } : {}
    if (isObject(part.functionCall)) {
      addActivity(events, true)
      const call = callIn(part.functionCall)
      toolText += call.arguments.length
      if (toolText > MAX_ARGUMENTS) problem = beyondLimit('tool arguments beyond 1 MiB')
      if (calls.length === MAX_CALLS) problem = beyondLimit(`more than ${MAX_CALLS} tool calls`)
      calls.push({ ...call, id: call.id || `call_${randomUUID()}`, name: ownName(call.name, request.tools) })
      const args = argumentsOf(call)
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
    const counted = geminiUsage(chunk.usageMetadata)
    if (counted) {
      usage = counted
      events.push({ type: 'usage', usage: counted })
    }
    const candidate = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined
    const { content, finishReason, finishMessage } = isObject(candidate) ? candidate : {}
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    for (const part of parts) takePart(part)
    if (typeof finishReason === 'string') stop(finishReason, finishMessage)
    // A refused prompt has no candidate at all.
    const blocked = blockedIn(chunk)
    if (blocked !== null) [finish, refusal] = ['SAFETY', blocked]
    addActivity(events)
  }
  function stop(finishReason: string, message: unknown): void {
    finish = finishReason
    if (reasonIn(finishReasons, finishReason) === 'content_filter') refusal = wordsIn(message) ?? finishReason
    problem ??= problemOfEnd(finishReason, message, made)
  }
  return {
    events,
    problem: () => problem,
    done: () => false, // no `[DONE]`: the stream just ends
    finished: () => finish !== null,
    take(data, eventName) {
      if (problem || data === '') return
      const chunk = parse(data)
      // Chunks come as a list in errors and where `alt=sse` was ignored.
      for (const one of Array.isArray(chunk) ? chunk : [chunk]) {
        if (problem) return
        if (!isObject(one)) problem = problemOfText(data, eventName)
        else if (one.candidates || one.usageMetadata || one.promptFeedback) takeChunk(one)
        else {
          const error = errorIn(one, [])
          problem = error ? problemInStream(error, data) : malformed(data)
        }
      }
    },
    alive: () => addActivity(events),
    close: () =>
      turnEnd(
        reasonIn(finishReasons, finish),
        usage,
        () => calls,
        () => echoes.keep(request, echo),
        refusal,
      ),
  }
}

/**
 * Returns the problem of an incomplete reply. Null when the reply is whole or was filtered. An unknown finish reason
 * without output is a problem.
 */
function problemOfEnd(finishReason: string, message: unknown, made: boolean): ProviderProblem | null {
  const isUnknown = !made && isUnknownEnd(finishReasons, finishReason)
  const broken = brokenOff[finishReason] ?? (isUnknown ? { again: false } : null)
  if (!broken) return null
  const reason = `the model stopped with ${finishReason}${typeof message === 'string' ? `: ${message}` : ''}`
  return new ProviderProblem({ kind: 'reported', reason, retry: broken.again })
}

/** Returns why the prompt was refused. Null when it was not. */
const blockedIn = ({ promptFeedback: feedback }: Fields): string | null =>
  isObject(feedback)
    ? wordsIn(feedback.blockReason) && (wordsIn(feedback.blockReasonMessage) ?? wordsIn(feedback.blockReason))
    : null

const wordsIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads a call. Gemini sends it whole, models before 3 without an id. */
const callIn = ({ id, name, args }: Fields): ToolCall => ({
  id: typeof id === 'string' ? id : '',
  name: typeof name === 'string' ? name : '',
  arguments: meantArguments(argumentsIn(args)),
})

/** Appends text to the last part. A signed part stays by itself, since a signature covers its part alone. */
function keepText(echo: Part[], text: string, signature: { thoughtSignature?: string }): void {
  const last = echo.at(-1)
  if (last?.text !== undefined && !last.thoughtSignature && !signature.thoughtSignature) last.text += text
  else if (text !== '' || signature.thoughtSignature) echo.push({ text, ...signature })
}
