/** The protocol of the adapter in docs/conformance.md, with the small server behind. Its messages name no role. */
import { bodyOf, type Front, posted, sendEvents, sendJson, startFront } from './fronts.ts'

const ends: Record<string, string> = { in_progress: 'running', completed: 'complete', failed: 'error' }
const endOf = (status: string): string => ends[status] ?? 'cancelled'

export function startChats(smallUrl: string): Promise<Front> {
  const chats = new Map<string, { reply: string; text: string }[]>()
  const shown: Parameters<typeof sendEvents>[1]['shown'] = ({ number, reply, delta, end }) => {
    const status = end && endOf(end)
    return delta === undefined && end === undefined
      ? ': begun\n\n'
      : `data: ${JSON.stringify({ position: number, reply, delta, status })}\n\n`
  }
  return startFront(smallUrl, async (small, { path: [kind, id = '', what], query, request }) => {
    if (kind === 'chats' && id === '') {
      const { body } = await small.json('/conversations', posted({}))
      chats.set(String(body.id), [])
      return sendJson({ id: body.id })
    }
    const said = chats.get(id) ?? []
    if (kind === 'chats' && what === 'messages') {
      const replies = await small.replies(said.map(({ reply }) => reply))
      const messages = replies.flatMap(({ status, text }, n) => [
        { status: 'complete', text: said[n]?.text },
        { status: endOf(status), text },
      ])
      return sendJson(messages)
    }
    if (kind === 'chats') {
      const text = String((await bodyOf(request)).text)
      const key = request.headers['idempotency-key']
      const headers: Record<string, string> = typeof key === 'string' ? { 'idempotency-key': key } : {}
      const events = await small.stream('/responses', posted({ conversation: id, input: text }, headers))
      return sendEvents(events, {
        shown,
        headers(reply) {
          if (!said.some((one) => one.reply === reply)) said.push({ reply, text })
          return {}
        },
      })
    }
    if (what === 'cancel') return sendJson((await small.json(`/responses/${id}/cancel`, posted({}))).body)
    const after = query.get('after') ?? ''
    const place = after === '' ? '' : `&starting_after=${after}`
    return sendEvents(await small.stream(`/responses/${id}?stream=true${place}`), { shown })
  })
}
