/** Fixtures: requests to a vendor and its responses, stored as files that tests replay. */
import type { ModelRequest } from '../src/actors/ports/index.ts'
import { createModel } from '../src/providers/model.ts'
import type { ProviderFetch } from '../src/providers/request/fetch.ts'
import { clearKeyLike, clearSecrets } from '../src/untrusted/redact.ts'

export type Vendor = 'anthropic' | 'gemini'

export interface Exchange {
  name: string
  /** The path without the host, and the body as sent. */
  request: { path: string; body: unknown }
  response: { status: number; contentType: string; body: string }
}

export interface Fixture {
  vendor: Vendor
  model: string
  /** `recorded`, or a sentence saying that it was not. */
  source: string
  /** The day it was recorded or written, YYYY-MM-DD. */
  date: string
  exchanges: Exchange[]
}

type Question = Pick<ModelRequest, 'model' | 'system' | 'messages' | 'config' | 'tools' | 'reasoning'>

/** The requests to each vendor: one answered with text, one with a tool call, and one with an error. */
export function questions(model: string): Record<'words' | 'tool' | 'error', Question> {
  const plain = { model, system: 'Answer in one short sentence.', config: {}, tools: [], reasoning: false }
  const weather = {
    name: 'get_weather',
    description: 'The weather of a city now.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  }
  return {
    words: { ...plain, messages: [{ role: 'user', content: 'What is the capital of France?' }] },
    tool: {
      ...plain,
      messages: [{ role: 'user', content: 'Look up the weather in Paris with the tool.' }],
      tools: [weather],
    },
    error: { ...plain, model: 'no-such-model', messages: [{ role: 'user', content: 'Hello' }] },
  }
}

/** Asks a vendor all questions through the product's own adapter. `fetch` reaches the vendor, or simulates one. */
export async function record(
  vendor: Vendor,
  model: string,
  apiKey: string,
  fetch: typeof globalThis.fetch,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  for (const [name, asked] of Object.entries(questions(model))) {
    const recording: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const body = await response.clone().text()
      const { pathname, search } = new URL(String(input))
      exchanges.push({
        name,
        request: { path: pathname + search, body: JSON.parse(String(init?.body ?? 'null')) },
        response: {
          status: response.status,
          contentType: response.headers.get('content-type') ?? '',
          body: scrub(body, apiKey),
        },
      })
      return response
    }
    const provider = { id: 'recording', type: vendor, baseUrl: null, apiKey }
    const model = createModel({ fetch: over(recording), providerRetries: 0, idleTimeoutMs: 60_000 })
    await model.stream({ ...asked, provider }, new AbortController().signal, () => undefined)
  }
  return exchanges
}

/** Provider calls over the platform's fetch, or a simulated one. */
export const over =
  (fetch: typeof globalThis.fetch): ProviderFetch =>
  async (url, init) => {
    const { body: sent, ...rest } = init
    if (typeof sent === 'object') throw new Error('Only texts are recorded.')
    const { status, headers, body } = await fetch(url, { ...rest, ...(sent && { body: sent }), redirect: 'manual' })
    const cancel = () => void body?.cancel().catch(() => {})
    return {
      status,
      headers,
      cancel,
      async read(take) {
        for await (const bytes of body ?? []) await take(bytes)
      },
    }
  }

/** Removes keys, and ids and signatures, which belong to an account and change with every call. */
export function scrub(text: string, key: string): string {
  return clearKeyLike(clearSecrets(text, [key]))
    .replace(/("(?:request_id|responseId|id)"\s*:\s*")((?:req_|msg_|toolu_)?)[^"]*"/g, '$1$2scrubbed"')
    .replace(/("(?:signature|thoughtSignature)"\s*:\s*")[^"]+"/g, '$1c2NydWJiZWQ="')
}
