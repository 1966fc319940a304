/**
 * AG-UI: runs of an agent, as its `HttpAgent` asks for them. The URL is the agent's. The protocol has no way to come back
 * to a run, to read a thread or to cancel from elsewhere: what needs these is not offered.
 */

import type { Adapter } from '../types.ts'
import { ask, dataOf, serverEvents } from '../wire/http.ts'

export const agUi: Adapter = {
  name: 'ag-ui',
  offers: ['createConversation', 'send'],
  createConversation: async () => crypto.randomUUID(),
  async *send(threadId, content, { key, signal }, target) {
    const runId = key ?? crypto.randomUUID()
    const body = {
      ...{ threadId, runId, state: {}, tools: [], context: [], forwardedProps: {} },
      messages: [{ id: crypto.randomUUID(), role: 'user', content }],
    }
    const headers = { accept: 'text/event-stream' }
    let length = 0
    for await (const event of serverEvents(await ask(target.url, target, { body, headers, signal }))) {
      const { type, delta } = dataOf(event)
      if (type === 'TEXT_MESSAGE_CONTENT' && typeof delta === 'string') {
        length += delta.length
        yield { id: String(length), text: delta, reply: runId }
      }
      if (type === 'RUN_FINISHED') yield { id: String(length), end: 'complete', reply: runId }
      if (type === 'RUN_ERROR') yield { id: String(length), end: 'error', reply: runId }
    }
  },
}
