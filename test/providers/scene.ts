/** What the tests of this folder share: a model against a scripted upstream, and a reader of its events. */
import { onTestFinished } from 'vitest'
import type {
  ModelEvent,
  ModelRequest,
  ProviderCallEvent,
  ProviderCalls,
  ProviderConnection,
} from '../../src/actors/ports/index.ts'
import { createModel, type ModelOptions, type Providers } from '../../src/providers/model.ts'
import { createOutbound } from '../../src/tools/outbound/outbound.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from '../support/network/upstream.ts'
import { heard } from '../support/streams/model-stream.ts'

export const key = 'sk-test-4f9a8b7c6d5e4f3a2b1c'

export async function scene(
  options: Partial<ModelOptions> = {},
  upstream: UpstreamOptions = {},
): Promise<{ up: Upstream; model: Providers }> {
  const up = await startUpstream(upstream)
  const outbound = createOutbound({ policy: 'standard', allow: [] })
  const standard = { fetch: outbound.call, providerRetries: 2, idleTimeoutMs: 60_000, backOffMs: 1 }
  const model = createModel({ ...standard, ...options })
  onTestFinished(async () => {
    await outbound[Symbol.asyncDispose]()
    await up.close()
  })
  return { up, model }
}

/** An observer of calls, and what of it matters here. */
export const callsOf =
  (
    some: { [Type in ProviderCallEvent['type']]?: (event: Extract<ProviderCallEvent, { type: Type }>) => void },
  ): ProviderCalls =>
  (event) => {
    const follow: ((one: never) => void) | undefined = some[event.type]
    follow?.(event as never)
  }

export const connectionTo = (baseUrl: string | null, type = 'openai-compatible'): ProviderConnection => ({
  id: 'p1',
  type,
  baseUrl,
  apiKey: key,
})

export const requestTo = (up: { url: string } | null, changes: Partial<ModelRequest> = {}): ModelRequest => ({
  provider: connectionTo(up?.url ?? null, up ? 'openai-compatible' : 'demo'),
  model: 'model-a',
  system: null,
  messages: [{ role: 'user', content: 'hi' }],
  config: {},
  tools: [],
  reasoning: false,
  ...changes,
})

/** Every event until the end. */
export async function all(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const seen: ModelEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

export const ask = (model: Providers, request: ModelRequest, signal = new AbortController().signal) =>
  all(heard(model, request, signal))

/** Without the signs of life, whose number does not matter. */
export const spoken = (events: readonly ModelEvent[]): ModelEvent[] => events.filter(({ type }) => type !== 'activity')

export const textOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')

export function failureIn(events: readonly ModelEvent[]) {
  const last = events.at(-1)
  if (last?.type !== 'failed') throw new Error(`no failure: ${JSON.stringify(last)}`)
  return last.failure
}

/** What the upstream reports unless its script says otherwise. */
export const aTokenEach = { promptTokens: 1, completionTokens: 1 }

/** What `sayOk` makes the model emit. */
export const okay: readonly ModelEvent[] = [
  { type: 'text', text: 'ok' },
  { type: 'end', reason: 'stop', usage: aTokenEach },
]

export const sayOk = async (call: { text(t: string): unknown; finish(): unknown }) => {
  await call.text('ok')
  await call.finish()
}
