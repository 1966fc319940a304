/**
 * A small server in memory that speaks OpenAI's Responses and Conversations APIs, with faults as switches. Built on nothing
 * of the product, and on nothing of the suite. Its disk outlives `kill`.
 */
import { once, setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { keptAlive } from '../support/network/kept-alive.ts'
import { modelText } from './small-model-client.ts'

export const faults = [
  'show-before-store',
  'resume-by-time',
  'double-at-reconnect',
  'cancel-closes-only',
  'two-ends',
  'key-ignored',
  'stays-running',
  'takes-back',
  'loses-last',
  'splits-characters',
  'busy-drops',
] as const
export type Fault = (typeof faults)[number]

type Status = 'in_progress' | 'completed' | 'cancelled' | 'failed'

interface Reply {
  id: string
  input: string
  key: string | null
  deltas: string[]
  /** The number of deltas that are on the disk. */
  stored: number
  status: Status
  isRemoved: boolean
  calling: AbortController
  changed: EventTarget
}

type Disk = Map<string, Reply[]>

const ended = (reply: Reply, status: Status): void => {
  if (reply.status === 'in_progress') reply.status = status
  reply.stored = reply.deltas.length
  reply.changed.dispatchEvent(new Event('change'))
}

export interface SmallServer {
  url: string
  kill(): Promise<void>
  start(): Promise<void>
}

export async function startSmallServer(modelUrl: string, fault: Fault | null): Promise<SmallServer> {
  const disk: Disk = new Map()
  const handle = createHandler(disk, modelUrl, fault)
  const open = () =>
    createServer(keptAlive, (request, response) => {
      handle(request, response).catch((error: unknown) => {
        if (!response.headersSent) sendJson(response, 500, { error: { message: String(error) } })
        else response.destroy()
      })
    })
  let server = open()
  const port = await listen(server, 0)
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      for (const reply of [...disk.values()].flat()) {
        reply.calling.abort()
        if (reply.status === 'in_progress') reply.deltas.length = reply.stored
      }
    },
    async start() {
      const running = [...disk.values()].flat().filter(({ status }) => status === 'in_progress')
      if (fault !== 'stays-running') for (const reply of running) ended(reply, 'failed')
      server = open()
      await listen(server, port)
    },
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return Number(Object(server.address()).port)
}

function createHandler(disk: Disk, modelUrl: string, fault: Fault | null) {
  const find = (id = '') => [...disk.values()].flat().find((reply) => reply.id === id)

  async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { conversation, input } = Object(JSON.parse(await bodyOf(request)))
    const replies = disk.get(conversation)
    if (!replies) return sendJson(response, 404, { error: { message: 'No such conversation.' } })
    const key = fault === 'key-ignored' ? null : (request.headers['idempotency-key']?.toString() ?? null)
    const first = key === null ? undefined : replies.find((reply) => reply.key === key)
    if (first && first.input !== input) return sendJson(response, 400, { error: { message: 'The key was used.' } })
    if (first) return sendEvents(response, first, { from: 0, fault: null })
    if (replies.at(-1)?.status === 'in_progress') {
      if (fault !== 'busy-drops') return sendJson(response, 409, { error: { message: 'A reply is running.' } })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.end()
    }
    const reply = begun(input, key)
    replies.push(reply)
    void generate(reply, modelUrl, fault)
    await sendEvents(response, reply, { from: 0, fault: fault === 'two-ends' ? fault : null })
  }

  async function resume(response: ServerResponse, reply: Reply, after: string | null): Promise<void> {
    const position = after === null ? -1 : Number(after)
    if (!Number.isInteger(position) || position > reply.deltas.length + 1)
      return sendJson(response, 400, { error: { message: 'No such position.' } })
    const isRunning = reply.status === 'in_progress'
    let from = position + 1
    if (isRunning && fault === 'resume-by-time') from = reply.deltas.length + 1
    if (isRunning && fault === 'double-at-reconnect') from = Math.max(0, from - 1)
    await sendEvents(response, reply, { from, fault: !isRunning && fault === 'loses-last' ? fault : null })
  }

  function cancel(response: ServerResponse, reply: Reply): void {
    if (fault !== 'cancel-closes-only') reply.calling.abort()
    ended(reply, 'cancelled')
    sendJson(response, 200, shown(reply))
  }

  const shown = ({ id, status, deltas }: Reply) => {
    const text = fault === 'takes-back' && status === 'failed' ? '' : deltas.join('')
    return { id, status, output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }] }
  }

  const list = (replies: readonly Reply[]) => ({
    data: replies.map(({ input: text }) => ({ type: 'message', role: 'user', content: [{ text }] })),
  })

  function remove(id: string, replies: readonly Reply[]) {
    disk.delete(id)
    for (const reply of replies) {
      reply.isRemoved = true
      reply.calling.abort()
      ended(reply, 'cancelled')
    }
    return { id, deleted: true }
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://small')
    const [, kind, id, what] = pathname.split('/')
    const method = request.method ?? 'GET'
    if (kind === 'conversations' && id === undefined) {
      const made = crypto.randomUUID()
      disk.set(made, [])
      return sendJson(response, 200, { id: made })
    }
    const replies = kind === 'conversations' ? disk.get(id ?? '') : undefined
    if (replies) return sendJson(response, 200, method === 'DELETE' ? remove(id ?? '', replies) : list(replies))
    if (kind === 'responses' && id === undefined) return await create(request, response)
    const reply = kind === 'responses' ? find(id) : undefined
    if (!reply) return sendJson(response, 404, { error: { message: 'Nothing is here.' } })
    if (what === 'cancel') return cancel(response, reply)
    if (searchParams.get('stream') === 'true') return await resume(response, reply, searchParams.get('starting_after'))
    sendJson(response, 200, shown(reply))
  }
}

function begun(input: string, key: string | null): Reply {
  const changed = new EventTarget()
  setMaxListeners(0, changed)
  return {
    id: crypto.randomUUID(),
    ...{ input, key, deltas: [], stored: 0, status: 'in_progress', isRemoved: false },
    calling: new AbortController(),
    changed,
  }
}

async function generate(reply: Reply, modelUrl: string, fault: Fault | null): Promise<void> {
  const { signal } = reply.calling
  try {
    const texts = modelText(modelUrl, reply.input, { signal, splits: fault === 'splits-characters' })
    for await (const text of texts) {
      if (reply.status !== 'in_progress') continue
      reply.deltas.push(text)
      if (fault !== 'show-before-store' || reply.deltas.length % 10 === 0) reply.stored = reply.deltas.length
      reply.changed.dispatchEvent(new Event('change'))
    }
    ended(reply, 'completed')
  } catch {
    // A killed process notes nothing.
    if (!signal.aborted) ended(reply, 'failed')
  }
}

/** Sends the events from a number on: `created` is 0, then one for each delta, then the end. */
async function sendEvents(
  response: ServerResponse,
  reply: Reply,
  { from, fault }: { from: number; fault: Fault | null },
) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (type: string, number: number, data: object) => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...data })}\n\n`)
  }
  const { id } = reply
  const closed = once(response, 'close')
  const state = (status: Status) => ({ response: { id, status } })
  if (from <= 0) write('response.created', 0, state('in_progress'))
  for (let at = Math.max(1, from); !response.destroyed && !reply.isRemoved; ) {
    const { deltas, status } = reply
    const isOver = status !== 'in_progress'
    const most = isOver && fault === 'loses-last' ? deltas.length - 1 : deltas.length
    for (; at <= most; at += 1) write('response.output_text.delta', at, { delta: deltas[at - 1] })
    if (isOver) {
      write(`response.${status}`, deltas.length + 1, state(status))
      if (fault === 'two-ends' && status === 'completed') write(`response.${status}`, deltas.length + 1, state(status))
      break
    }
    await Promise.race([once(reply.changed, 'change'), closed])
  }
  response.end()
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
