/** A generation with a scripted model and toolbox. */

import type { Ending, LeaseGate } from '../../../src/actors/generate/endings.ts'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { Model, ModelEvent, ModelRequest, Take, Toolbox, ToolCall } from '../../../src/actors/ports/index.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { capabilities } from '../../../src/compose/capabilities.ts'
import { told } from '../../support/streams/model-stream.ts'

type Step = ModelEvent | 'hang'
export const never = new AbortController().signal

export const end = (reason: 'stop' | 'length' | 'tool_calls' = 'stop', tokens = 1): ModelEvent => ({
  type: 'end',
  reason,
  usage: { promptTokens: tokens, completionTokens: tokens },
})
export const say = (text: string): ModelEvent => ({ type: 'text', text })
export const ask = (id: string, name = 'tool'): ModelEvent => ({
  type: 'tool_call',
  call: { id, name, arguments: '{}' },
})

/** One list of steps a turn; the last is repeated for ever. */
export function script(...turns: Step[][]): Model & { requests: ModelRequest[]; counted: (readonly string[])[] } {
  const requests: ModelRequest[] = []
  const counted: (readonly string[])[] = []
  return {
    requests,
    counted,
    async countTokens(texts) {
      counted.push(texts)
      return texts.map(({ length }) => length)
    },
    stream: told(async function* (request, signal) {
      requests.push(request)
      for (const step of turns[Math.min(requests.length, turns.length) - 1] ?? []) {
        if (step === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve))
        else yield step
        if (signal.aborted) return
      }
    }),
  }
}

export const request = {
  provider: { id: 'p', type: 'demo', baseUrl: null, apiKey: null },
  model: 'm',
  system: 'sys',
  config: {},
  reasoning: false,
  messages: [{ role: 'user', content: 'hello' } as const],
}

export type Call = (call: ToolCall, signal: AbortSignal, key: string) => ReturnType<Toolbox['call']>

interface Run {
  config?: ModelRequest['config']
  call?: Call
  timeoutMs?: number
  signal?: AbortSignal
  gate?: LeaseGate
  stored?: () => Promise<boolean>
}

export async function run(model: Model, { config = {}, call, timeoutMs = 60_000, signal, gate, stored }: Run = {}) {
  const toolbox: Toolbox = {
    tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
    call: call ?? (async ({ id }) => ({ ok: true, content: `result of ${id}` })),
  }
  const generation = createGeneration(
    { ...request, config },
    { replyId: 'r', model, openToolbox: async () => toolbox, timeoutMs, ...capabilities, ...(gate && { gate }) },
  )
  const events: ReplyEvent[] = []
  const take: Take<ReplyEvent> = (emitted) => {
    events.push(...emitted)
    return undefined
  }
  const ending: Ending = await generation.run(signal ?? never, take, stored)
  return { events, ending, usage: await generation.usage() }
}

export const textOf = (events: ReplyEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '|')).join('')
