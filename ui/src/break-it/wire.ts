/** The page's own reader of streams: what judges the product must not be the product's client. */

/** The address of the demo agent, whose id is the same everywhere. */
const base = '/api/v1/agents/00000000-0000-4000-8000-000000000001/playground'

export type WireEvent =
  | { type: 'frame'; id: number; replyId: string; text: string }
  | { type: 'ended'; how: 'complete' | 'cancelled' | 'error'; code: string | null }

export interface WireStream {
  /** Null when there is no reply to follow. */
  events: AsyncGenerator<WireEvent, void> | null
  sessionId: string | null
}

/** Rejects when there is no answer. */
export async function ask(message: string, sessionId: string | null, signal: AbortSignal): Promise<WireStream> {
  return streamOf(
    await fetch(`${base}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, sessionId }),
      signal,
    }),
  )
}

/** Follows the newest reply from behind that frame on. */
export async function resume(sessionId: string, lastId: number, signal: AbortSignal): Promise<WireStream> {
  const headers = { 'last-event-id': String(lastId) }
  return streamOf(await fetch(`${base}/sessions/${sessionId}/stream`, { headers, signal, cache: 'no-store' }))
}

function streamOf(response: Response): WireStream {
  const sessionId = response.headers.get('x-session-id')
  if (response.status === 409 || response.status === 204) return { events: null, sessionId }
  if (!response.ok || response.body === null) throw new Error(`The server answered ${response.status}.`)
  return { events: readEvents(response.body), sessionId }
}

/** Ends without `ended` where the connection broke. */
async function* readEvents(body: NonNullable<Response['body']>): AsyncGenerator<WireEvent, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    if (done) return
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = eventIn(block)
      if (event !== null) yield event
    }
  }
}

interface Chunk {
  id?: string
  choices?: { delta?: { content?: string }; finish_reason?: string | null }[]
  error?: { code: string }
}

function eventIn(block: string): WireEvent | null {
  const field = (name: string) => block.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1]
  const data = field('data')
  if (data === undefined || field('event') !== undefined || data === '[DONE]') return null
  const { id = '', choices, error }: Chunk = JSON.parse(data)
  if (error) return { type: 'ended', how: 'error', code: error.code }
  const [choice] = choices ?? []
  if (choice?.finish_reason) return { type: 'ended', how: 'complete', code: null }
  const text = choice?.delta?.content ?? ''
  return text === '' ? null : { type: 'frame', id: Number(field('id')), replyId: id.replace('chatcmpl-', ''), text }
}

export interface ReadReply {
  id: string
  content: string
  frames: { id: number; offset: number }[]
}

async function readJson(address: string, signal: AbortSignal) {
  const response = await fetch(address, { signal, cache: 'no-store' })
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`The server answered ${response.status}.`)
  return response.json()
}

/** Reads those of these replies that the server has. Rejects when there is no answer. */
export async function readReplies(
  sessionId: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadReply[]> {
  const path = `${base}/sessions/${sessionId}/messages`
  const read = async (limit: string) => {
    const page: { messages: ReadReply[] } | null = await readJson(`${path}?branches=all${limit}`, signal)
    return page?.messages.filter(({ id }) => ids.includes(id)) ?? []
  }
  // Mostly the newest reply is asked for.
  const newest = ids.length === 1 ? await read('&limit=2') : []
  const replies: ReadReply[] = []
  for (const { id, content } of newest.length > 0 ? newest : await read('')) {
    // Read after the content: a frame that is stored meanwhile is behind its end, and not due yet.
    const found: Pick<ReadReply, 'frames'> | null = await readJson(`${path}/${id}/frames`, signal)
    if (found !== null) replies.push({ id, content, frames: found.frames })
  }
  return replies
}
