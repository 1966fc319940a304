/** Other protocols in front of the small server: each request becomes one or more of its own. Level `resume` at most. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { keptAlive } from '../support/network/kept-alive.ts'

interface Event {
  number: number
  reply: string
  delta?: string
  /** The status of the end. */
  end?: string
}

interface Stored {
  id: string
  status: string
  text: string
}

/** The small server, asked by a front. */
interface Small {
  json(path: string, init?: RequestInit): Promise<{ status: number; body: Record<string, unknown> }>
  /** The events of a reply, or the status of the refusal. */
  stream(path: string, init?: RequestInit): Promise<AsyncGenerator<Event> | number>
  /** Reads the replies that a front has begun. */
  replies(ids: readonly string[]): Promise<Stored[]>
}

type Handler = (small: Small, asked: { path: string[]; query: URLSearchParams; request: IncomingMessage }) => Answer
type Answer = Promise<(response: ServerResponse) => void | Promise<void>>

export interface Front extends AsyncDisposable {
  url: string
}

export async function startFront(smallUrl: string, handle: Handler): Promise<Front> {
  const small = smallAt(smallUrl)
  const server = createServer(keptAlive, (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://front')
    handle(small, { path: pathname.split('/').slice(1), query, request })
      .then((write) => write(response))
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function smallAt(url: string): Small {
  const json: Small['json'] = async (path, init) => {
    const response = await fetch(`${url}${path}`, init)
    return { status: response.status, body: Object(await response.json()) }
  }
  return {
    json,
    async stream(path, init) {
      const response = await fetch(`${url}${path}`, init)
      return response.ok ? eventsOf(response) : response.status
    },
    async replies(ids) {
      const all = await Promise.all(ids.map((id) => json(`/responses/${id}`)))
      return all.map(({ body: { id, status, output } }) => ({
        id: String(id),
        status: String(status),
        text: String(Object(output)[0].content[0].text),
      }))
    },
  }
}

async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let rest = ''
  let reply = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter((one) => one.startsWith('data: '))) {
      const { type, sequence_number: number, delta, response: state } = JSON.parse(line.slice(6))
      reply = state?.id ?? reply
      const isEnd = state !== undefined && type !== 'response.created'
      yield { number, reply, ...(delta !== undefined && { delta }), ...(isEnd && { end: state.status }) }
    }
  }
}

export const sendJson =
  (body: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

/** Sends the events of a reply, each as the texts that the front makes of it. Headers may name the reply. */
export const sendEvents =
  (
    events: AsyncGenerator<Event> | number,
    { shown, headers = () => ({}) }: { shown(event: Event): string; headers?(reply: string): Record<string, string> },
  ) =>
  async (response: ServerResponse): Promise<void> => {
    if (typeof events === 'number') return sendJson({ error: 'Refused.' }, events)(response)
    for await (const event of events) {
      if (!response.headersSent)
        response.writeHead(200, { 'content-type': 'text/event-stream', ...headers(event.reply) })
      response.write(shown(event))
      if (response.destroyed) return
    }
    response.end()
  }

export async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const part of request) text += String(part)
  return Object(JSON.parse(text || '{}'))
}

export const posted = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
