/**
 * OpenAI's Responses and Conversations APIs. The URL is the base URL of an OpenAI client; the agent is the `model`.
 * Responses run in background mode, as readers that come back need.
 */
import { Refusal } from '../failures.ts'
import type { Adapter, End, Item, Message, Target } from '../types.ts'
import { ask, askJson, dataOf, serverEvents } from '../wire/http.ts'

const ends: Record<string, End> = {
  completed: 'complete',
  incomplete: 'complete',
  cancelled: 'cancelled',
  failed: 'error',
}

async function* items(response: Response): AsyncGenerator<Item> {
  let reply: { reply?: string } = {}
  for await (const event of serverEvents(response)) {
    if (event.data === '[DONE]') return
    const { type, sequence_number: number, delta, response: state } = dataOf(event)
    const id = String(number)
    const named: unknown = Object(state).id
    if (typeof named === 'string') reply = { reply: named }
    if (type === 'response.output_text.delta') yield { id, text: String(delta), ...reply }
    else if (type === 'error') yield { id, end: 'error', ...reply }
    else {
      const end = ends[String(type).replace('response.', '')]
      if (end !== undefined) yield { id, end, ...reply }
    }
  }
}

const textOf = (item: Record<string, unknown>): string =>
  (Array.isArray(item.content) ? item.content : []).map((part) => String(Object(part).text ?? '')).join('')

/** The replies of a conversation, by its name: their state is the response's, not the item's. */
const replies = new Map<string, string[]>()

function remember(conversation: string, reply: string): void {
  const known = replies.get(conversation) ?? []
  if (!known.includes(reply)) replies.set(conversation, [...known, reply])
}

async function readReply(id: string, target: Target): Promise<Message | null> {
  try {
    const response = await askJson(`${target.url}/responses/${id}`, target)
    const output = Array.isArray(response.output) ? response.output : []
    const status = ends[String(response.status)] ?? 'running'
    return { role: 'assistant', status, text: output.map((item) => textOf(Object(item))).join('') }
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null
    throw error
  }
}

export const responses: Adapter = {
  name: 'responses',
  offers: ['createConversation', 'send', 'follow', 'read', 'cancel', 'remove'],
  createConversation: async (target) => String((await askJson(`${target.url}/conversations`, target, { body: {} })).id),
  async *send(conversation, input, { key, signal }, target) {
    const response = await ask(`${target.url}/responses`, target, {
      body: { model: target.agent ?? 'suite', conversation, input, stream: true, background: true, store: true },
      headers: key === undefined ? {} : { 'idempotency-key': key },
      signal,
    })
    for await (const item of items(response)) {
      if (item.reply !== undefined) remember(conversation, item.reply)
      yield item
    }
  },
  async *follow(_conversation, reply, afterId, target) {
    const after = afterId === null ? '' : `&starting_after=${encodeURIComponent(afterId)}`
    yield* items(await ask(`${target.url}/responses/${reply}?stream=true${after}`, target))
  },
  async read(conversation, target) {
    const list = await askJson(`${target.url}/conversations/${conversation}/items?order=asc&limit=100`, target)
    const asked = (Array.isArray(list.data) ? list.data : [])
      .map((item): Record<string, unknown> => Object(item))
      .filter(({ type, role }) => (type ?? 'message') === 'message' && role === 'user')
    const users = asked.map((item) => ({ role: 'user', status: 'complete', text: textOf(item) }) satisfies Message)
    const answers = await Promise.all((replies.get(conversation) ?? []).map((id) => readReply(id, target)))
    return [...users, ...answers.filter((answer) => answer !== null)]
  },
  async cancel(_conversation, reply, target) {
    await ask(`${target.url}/responses/${reply}/cancel`, target, { method: 'POST' })
  },
  async remove(conversation, target) {
    await ask(`${target.url}/conversations/${conversation}`, target, { method: 'DELETE' })
  },
}
