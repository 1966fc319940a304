/**
 * The LangGraph Platform's threads and runs. The URL is the server's; the agent is an assistant's id or a graph's name. Runs
 * are resumable, go on when their reader leaves, and are streamed as `messages-tuple`.
 */

import type { Adapter, End, Item, Message } from '../types.ts'
import { ask, askJson, dataOf, serverEvents } from '../wire/http.ts'

const ends: Record<string, End> = { success: 'complete', interrupted: 'cancelled', error: 'error', timeout: 'error' }

const contentOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : []).map((part) => String(Object(part).text ?? '')).join('')

const runOf = (response: Response): string =>
  /\/runs\/([^/?]+)/.exec(response.headers.get('content-location') ?? '')?.[1] ?? ''

async function* items(response: Response, known: string): AsyncGenerator<Item> {
  const reply = runOf(response) || known
  let hasFailed = false
  let last = ''
  for await (const event of serverEvents(response)) {
    last = event.id
    if (event.event === 'messages') {
      const chunk = Object(Object(dataOf(event))[0])
      const text = String(chunk.type ?? '').startsWith('AIMessage') ? contentOf(chunk.content) : ''
      if (text !== '') yield { id: event.id, text, reply }
    }
    if (event.event === 'error') {
      hasFailed = true
      yield { id: event.id, end: 'error', reply }
    }
  }
  // The protocol ends a run by ending its stream.
  if (!hasFailed) yield { id: last, end: 'complete', reply }
}

export const langgraph: Adapter = {
  name: 'langgraph',
  offers: ['createConversation', 'send', 'follow', 'read', 'cancel', 'remove'],
  followsEnded: false,
  createConversation: async (target) =>
    String((await askJson(`${target.url}/threads`, target, { body: {} })).thread_id),
  async *send(thread, content, { signal }, target) {
    const response = await ask(`${target.url}/threads/${thread}/runs/stream`, target, {
      body: {
        assistant_id: target.agent ?? 'agent',
        input: { messages: [{ role: 'human', content }] },
        stream_mode: ['messages-tuple'],
        stream_resumable: true,
        on_disconnect: 'continue',
        multitask_strategy: 'reject',
      },
      signal,
    })
    yield* items(response, '')
  },
  async *follow(thread, run, afterId, target) {
    const headers = { 'last-event-id': afterId ?? '-1' }
    yield* items(await ask(`${target.url}/threads/${thread}/runs/${run}/stream`, target, { headers }), run)
  },
  async read(thread, target) {
    const state = await askJson(`${target.url}/threads/${thread}/state`, target)
    const runs: unknown = await (await ask(`${target.url}/threads/${thread}/runs`, target)).json()
    // The newest run comes first.
    const statuses = (Array.isArray(runs) ? runs : []).map((run) => ends[String(Object(run).status)] ?? 'running')
    const stored: unknown = Object(state.values).messages
    const messages = (Array.isArray(stored) ? stored : []).map((message): Message => {
      const { type, content } = Object(message)
      return { role: type === 'human' ? 'user' : 'assistant', status: 'complete', text: contentOf(content) }
    })
    const answers = messages.filter(({ role }) => role === 'assistant').reverse()
    for (const [at, answer] of answers.entries()) answer.status = statuses[at] ?? 'complete'
    return messages
  },
  async cancel(thread, run, target) {
    await ask(`${target.url}/threads/${thread}/runs/${run}/cancel`, target, { body: {} })
  },
  async remove(thread, target) {
    await ask(`${target.url}/threads/${thread}`, target, { method: 'DELETE' })
  },
}
