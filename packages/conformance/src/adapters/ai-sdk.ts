/**
 * The AI SDK's UI message stream, as `useChat` reads it with `resume: true`. The URL is the transport's `api`. A
 * position is the number of characters so far: a stream that is resumed begins with the reply's beginning.
 */
import { Refusal } from '../failures.ts'
import type { Adapter, Item } from '../types.ts'
import { ask, dataOf, serverEvents } from '../wire/http.ts'

async function* items(response: Response, after: number): AsyncGenerator<Item> {
  let length = 0
  let isAborted = false
  for await (const event of serverEvents(response)) {
    if (event.data === '[DONE]') return
    const { type, delta } = dataOf(event)
    if (type === 'text-delta' && typeof delta === 'string') {
      const text = delta.slice(Math.max(0, after - length))
      length += delta.length
      if (text !== '') yield { id: String(length), text }
    }
    if (type === 'abort') isAborted = true
    if (type === 'abort' || (type === 'finish' && !isAborted))
      yield { id: String(length), end: isAborted ? 'cancelled' : 'complete' }
    if (type === 'error') yield { id: String(length), end: 'error' }
  }
}

export const aiSdk: Adapter = {
  name: 'ai-sdk',
  offers: ['createConversation', 'send', 'follow'],
  followsEnded: false,
  createConversation: async () => crypto.randomUUID(),
  async *send(id, text, { key, signal }, target) {
    const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] }
    const response = await ask(target.url, target, {
      body: { id, messages: [message], trigger: 'submit-message' },
      headers: key === undefined ? {} : { 'idempotency-key': key },
      signal,
    })
    for await (const item of items(response, 0)) yield { ...item, reply: id }
  },
  async *follow(id, _reply, afterId, target) {
    const response = await ask(`${target.url}/${id}/stream`, target)
    if (response.status === 204) throw new Refusal(204, 'a reader that came back')
    yield* items(response, Number(afterId ?? 0))
  },
}
