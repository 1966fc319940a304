/** Threads and runs as the LangGraph Platform serves them, with the small server behind. */
import { bodyOf, type Front, posted, sendEvents, sendJson, startFront } from './fronts.ts'

const statuses: Record<string, string> = { in_progress: 'running', completed: 'success', failed: 'error' }
const statusOf = (status: string): string => statuses[status] ?? 'interrupted'

export function startLanggraph(smallUrl: string): Promise<Front> {
  /** Runs of the threads, oldest first, with what was asked. */
  const threads = new Map<string, { run: string; asked: string }[]>()
  const shown: Parameters<typeof sendEvents>[1]['shown'] = ({ number, delta, end }) => {
    const event = (name: string, data: unknown) => `id: ${number}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    if (delta !== undefined) return event('messages', [{ type: 'AIMessageChunk', content: delta }, {}])
    if (end === 'failed') return event('error', { error: 'Failed', message: 'The model failed.' })
    return event('metadata', { attempt: 1 })
  }
  return startFront(smallUrl, async (small, { path: [, thread = '', what, run, deed], request }) => {
    const runs = threads.get(thread) ?? []
    if (thread === '') {
      const { body } = await small.json('/conversations', posted({}))
      threads.set(String(body.id), [])
      return sendJson({ thread_id: body.id })
    }
    if (!threads.has(thread)) return sendJson({ detail: 'Thread not found' }, 404)
    if (what === undefined) {
      threads.delete(thread)
      await small.json(`/conversations/${thread}`, { method: 'DELETE' })
      return (response) => void response.writeHead(204).end()
    }
    if (run === 'stream') {
      const { input, stream_resumable: isResumable } = await bodyOf(request)
      const asked = String(Object(input).messages[0].content)
      if (isResumable !== true) return sendJson({ detail: 'Unprocessable' }, 422)
      const events = await small.stream('/responses', posted({ conversation: thread, input: asked }))
      const headers = (reply: string) => {
        runs.push({ run: reply, asked })
        return { 'content-location': `/threads/${thread}/runs/${reply}` }
      }
      return sendEvents(events, { shown, headers })
    }
    if (deed === 'stream') {
      const after = String(request.headers['last-event-id'] ?? '')
      const place = after === '-1' ? '' : `&starting_after=${after}`
      return sendEvents(await small.stream(`/responses/${run}?stream=true${place}`), { shown })
    }
    if (deed === 'cancel') {
      await small.json(`/responses/${run}/cancel`, posted({}))
      return sendJson({}, 202)
    }
    const replies = await small.replies(runs.map((one) => one.run))
    if (what === 'runs')
      return sendJson(replies.toReversed().map(({ id, status }) => ({ run_id: id, status: statusOf(status) })))
    const messages = replies.flatMap(({ text }, n) => [
      { type: 'human', content: runs[n]?.asked },
      { type: 'ai', content: [{ type: 'text', text }] },
    ])
    return sendJson({ values: { messages } })
  })
}
