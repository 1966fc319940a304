/** Anthropic's Messages API for tests: the documented wire format, and the rules by which requests are refused. */
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/network/upstream.ts'

type Fields = Record<string, unknown>

export const event = (type: string, fields: Fields = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

export const error = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_1',
})

export interface Told {
  thinking?: string
  text?: readonly string[]
  calls?: readonly { id: string; name: string; input: Fields }[]
  stop?: string
  usage?: { input_tokens: number; cache_creation_input_tokens?: number; cache_read_input_tokens?: number }
  outputTokens?: number
}

/** A whole turn as server-sent events, tool input in pieces of three characters. */
export function turn({ thinking, text = [], calls = [], stop, usage = { input_tokens: 5 }, outputTokens = 7 }: Told) {
  const blocks: string[] = []
  const block = (start: Fields, deltas: readonly Fields[]) => {
    const index = blocks.length
    const parts = deltas.map((delta) => event('content_block_delta', { index, delta }))
    const begin = event('content_block_start', { index, content_block: start })
    blocks.push([begin, ...parts, event('content_block_stop', { index })].join(''))
  }
  if (thinking !== undefined) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ])
  }
  if (text.length > 0) {
    block(
      { type: 'text', text: '' },
      text.map((piece) => ({ type: 'text_delta', text: piece })),
    )
  }
  for (const { id, name, input } of calls) {
    const pieces = JSON.stringify(input).match(/.{1,3}/gsu) ?? []
    block({ type: 'tool_use', id, name, input: {} }, [
      { type: 'input_json_delta', partial_json: '' },
      ...pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ])
  }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'claude', stop_reason: null }
  const reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  return [
    event('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
    event('ping'),
    ...blocks,
    event('message_delta', {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    event('message_stop'),
  ].join('')
}

export async function startAnthropic(): Promise<Upstream & { base: string }> {
  const up = await startUpstream({
    list: () => ({ data: [{ type: 'model', id: 'claude-opus-5-5', display_name: 'Claude' }], has_more: false }),
  })
  return Object.assign(up, { base: up.url.replace(/\/v1$/, '') })
}

/** Plays a turn, or refuses the request as the API would. */
export const tells =
  (told: Told) =>
  async (call: UpstreamCall): Promise<void> => {
    const refusal = refusalOf(call)
    if (refusal !== null) return call.error(400, error('invalid_request_error', refusal))
    await call.raw(turn(told))
    call.end()
  }

/** Null when the API takes this request. */
export function refusalOf({ body, headers, path }: Pick<UpstreamCall, 'body' | 'headers' | 'path'>): string | null {
  if (path !== '/v1/messages') return `no such path: ${path}`
  if (!headers['x-api-key'] || headers.authorization) return 'x-api-key expected'
  const version = headers['anthropic-version']
  const sampling = ['temperature', 'top_p', 'top_k'].filter((name) => name in body)
  if (version !== '2023-06-01' && version !== '2026-10-21') return `version ${version}`
  if (version === '2026-10-21' && sampling.length > 0) return `${sampling}: not permitted`
  const takesBoth = /claude-opus-4-0/.test(body.model)
  if (!takesBoth && sampling.includes('temperature') && sampling.includes('top_p'))
    return 'temperature and top_p cannot both be specified'
  if (!(body.max_tokens >= 1)) return 'max_tokens: Field required'
  if (body.messages.length === 0) return 'messages: at least one message is required'
  if (body.messages[0].role !== 'user') return 'messages: first message must use the "user" role'
  if (JSON.stringify(body).split('"cache_control"').length - 1 > 4) return 'A maximum of 4 blocks with cache_control'
  return refusalOfBlocks(body.messages, Array.isArray(body.tools) && body.tools.length > 0)
}

// biome-ignore lint/suspicious/noExplicitAny: a request's body, looked into freely
function refusalOfBlocks(messages: any[], hasTools: boolean): string | null {
  const ids = new Set<string>()
  let asked: string[] = []
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (blocks.length === 0) return 'messages: must have non-empty content'
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const of = (type: string): any[] => blocks.filter((block: any) => block.type === type)
    if (of('text').some(({ text }) => text.trim() === '')) return 'text content blocks must contain non-whitespace text'
    if ((of('tool_use').length > 0 || of('tool_result').length > 0) && !hasTools) {
      return 'Requests which include `tool_use` or `tool_result` blocks must define tools'
    }
    const answered = of('tool_result').map(({ tool_use_id: id }) => id)
    if (asked.toSorted().join() !== answered.toSorted().join()) return '`tool_use` ids without `tool_result` blocks'
    if (answered.length > 0 && blocks[0].type !== 'tool_result') return 'tool_result blocks must come first'
    asked = of('tool_use').map(({ id }) => id)
    if (asked.length > 0 && role !== 'assistant') return 'tool_use blocks are the assistant’s'
    for (const id of asked) {
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) return `tool_use.id: ${id}`
      if (ids.has(id)) return '`tool_use` ids must be unique'
      ids.add(id)
    }
  }
  if (asked.length > 0) return '`tool_use` ids without `tool_result` blocks'
  return messages.at(-1).role === 'user' ? null : 'This model does not support assistant message prefill'
}
