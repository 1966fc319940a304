/** What a recorded answer says, read all at once and without the product's own readers. */
import type { Exchange } from './recordings.ts'

export interface Said {
  text: string
  reasoning: string
  calls: { name: string; arguments: unknown }[]
  usage: { promptTokens: number; completionTokens: number } | null
  /** `failed`: the answer is an error. */
  end: string
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, of any vendor
type Json = any

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Data of each SSE event; of a whole answer, its one JSON, or each of a list. */
function documents(body: string): Json[] {
  const whole = parsed(body.trim())
  if (typeof whole === 'object' && whole !== null) return Array.isArray(whole) ? whole : [whole]
  return body
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .map((event) =>
      event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n'),
    )
    .filter((data) => data !== '' && data !== '[DONE]')
    .map(parsed)
}

const failed: Said = { text: '', reasoning: '', calls: [], usage: null, end: 'failed' }

const counted = (prompt: unknown, completion: unknown): Said['usage'] =>
  typeof prompt === 'number' && typeof completion === 'number'
    ? { promptTokens: prompt, completionTokens: completion }
    : null

const endOf = (reason: string, calls: readonly unknown[]): string =>
  ['length', 'content_filter'].includes(reason) ? reason : calls.length > 0 ? 'tool_calls' : 'stop'

function chat(docs: Json[]): Said {
  const deltas = docs.map((doc) => doc.choices?.[0]?.delta ?? doc.choices?.[0]?.message ?? {})
  let text = ''
  let reasoning = ''
  for (const { content, refusal, reasoning_content, reasoning: plain, reasoning_details: details } of deltas) {
    const parts = Array.isArray(content) ? content : [{ text: content ?? '' }]
    for (const part of parts) {
      text += part.text ?? ''
      for (const thought of part.thinking ?? []) reasoning += thought.text
    }
    text += refusal ?? ''
    reasoning +=
      reasoning_content ?? plain ?? (details ?? []).map((one: Json) => one.text ?? one.summary ?? '').join('')
  }
  const think = /^\s*<think>([\s\S]*?)(?:<\/think>|$)/.exec(text)
  if (think) {
    reasoning += think[1]
    text = text.slice(think[0].length)
  }
  const calls = new Map<unknown, { name: string; text: string }>()
  for (const call of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const key = call.index ?? call.id
    const known = calls.get(key) ?? { name: '', text: '' }
    const { name = '', arguments: args = '' } = call.function ?? {}
    calls.set(key, { name: known.name || name, text: known.text + (args ?? '') })
  }
  const usage = docs.map((doc) => doc.usage ?? doc.x_groq?.usage).findLast((one) => one)
  const completion = usage && Math.max(usage.completion_tokens, (usage.total_tokens ?? 0) - usage.prompt_tokens)
  const made = [...calls.values()].map((call) => ({ name: call.name, arguments: parsed(call.text || '{}') }))
  const reason = docs.map((doc) => doc.choices?.[0]?.finish_reason).findLast((one) => one) ?? 'stop'
  const end = endOf(reason === 'model_length' ? 'length' : reason, made)
  const cut = end === 'length' || end === 'content_filter'
  return { text, reasoning, calls: cut ? [] : made, usage: counted(usage?.prompt_tokens, completion), end }
}

function responses(docs: Json[]): Said {
  const response = docs.map((doc) => (doc.object === 'response' ? doc : doc.response)).find((one) => one?.usage)
  if (response === undefined) return failed
  const partsOf = (type: string) => response.output.filter((item: Json) => item.type === type)
  const thoughts = partsOf('reasoning').flatMap(({ summary, content }: Json) =>
    summary?.length ? summary : (content ?? []),
  )
  const calls = partsOf('function_call').map((item: Json) => ({ name: item.name, arguments: parsed(item.arguments) }))
  return {
    text: partsOf('message')
      .flatMap(({ content }: Json) => content.map((part: Json) => part.text))
      .join(''),
    reasoning: thoughts.map((part: Json) => part.text).join('\n\n'),
    calls,
    usage: counted(response.usage.input_tokens, response.usage.output_tokens),
    end: endOf('stop', calls),
  }
}

function anthropic(docs: Json[]): Said {
  const message = docs.find((doc) => doc.type === 'message')
  const blocks = new Map<number, Json>((message?.content ?? []).entries())
  let usage: Json = message?.usage ?? {}
  let reason = message?.stop_reason
  for (const doc of docs) {
    if (doc.type === 'message_start') usage = { ...usage, ...doc.message.usage }
    if (doc.type === 'content_block_start' && !blocks.has(doc.index))
      blocks.set(doc.index, { ...doc.content_block, json: '' })
    const block = blocks.get(doc.index)
    if (doc.type === 'content_block_delta') {
      for (const [from, to] of [
        ['text', 'text'],
        ['thinking', 'thinking'],
        ['partial_json', 'json'],
      ] as const) {
        if (typeof doc.delta[from] === 'string') block[to] = (block[to] ?? '') + doc.delta[from]
      }
    }
    if (doc.type !== 'message_delta') continue
    const given = Object.entries(doc.usage ?? {}).filter(([, value]) => value !== null)
    usage = { ...usage, ...Object.fromEntries(given) }
    reason = doc.delta.stop_reason ?? reason
  }
  const all = [...blocks.values()]
  const joined = (type: string, field: string) =>
    all
      .filter((block) => block.type === type)
      .map((block) => block[field])
      .join('')
  const calls = all
    .filter(({ type }) => type === 'tool_use')
    .map(({ name, input, json }) => ({ name, arguments: json ? parsed(json) : input }))
  const { input_tokens: own, cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = usage
  const words: Record<string, string> = { max_tokens: 'length', refusal: 'content_filter' }
  return {
    text: joined('text', 'text'),
    reasoning: joined('thinking', 'thinking'),
    calls,
    usage: counted(own + (read ?? 0) + (written ?? 0), usage.output_tokens),
    end: endOf(words[reason] ?? 'stop', calls),
  }
}

function gemini(docs: Json[]): Said {
  const parts = docs.flatMap((doc) => doc.candidates?.[0]?.content?.parts ?? [])
  const usage = docs.map((doc) => doc.usageMetadata).findLast((one) => one)
  const reason = docs
    .map((doc) => doc.candidates?.[0]?.finishReason ?? doc.promptFeedback?.blockReason)
    .findLast((one) => one)
  // Calls that came out wrong: the turn is no answer.
  if (['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'].includes(reason)) return failed
  const filters = ['SAFETY', 'RECITATION', 'MODEL_ARMOR', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII']
  const calls = parts.flatMap(({ functionCall: call }) =>
    call ? [{ name: call.name, arguments: call.args ?? {} }] : [],
  )
  const { promptTokenCount: prompt, candidatesTokenCount: own = 0, thoughtsTokenCount: thoughts = 0 } = usage ?? {}
  return {
    text: parts
      .filter((part) => !part.thought)
      .map((part) => part.text ?? '')
      .join(''),
    reasoning: parts
      .filter((part) => part.thought)
      .map((part) => part.text ?? '')
      .join(''),
    calls,
    usage: prompt === undefined ? null : counted(prompt + (usage.toolUsePromptTokenCount ?? 0), own + thoughts),
    end: endOf(filters.includes(reason) ? 'content_filter' : reason === 'MAX_TOKENS' ? 'length' : 'stop', calls),
  }
}

/** Null when the product has no adapter for the wire. */
export function said({ response: { status, body } }: Exchange, type: string): Said | null {
  if (type === 'bedrock' || type === 'cohere') return null
  if (status !== 200) return failed
  const docs = documents(body)
  const broken = (doc: Json) =>
    doc.error || doc.type === 'error' || doc.choices?.[0]?.error || doc.choices?.[0]?.finish_reason === 'error'
  if (docs.some(broken)) return failed
  if (type === 'responses') return responses(docs)
  if (type === 'anthropic') return anthropic(docs)
  return type === 'gemini' ? gemini(docs) : chat(docs)
}
