/** The suite's own model: answers by the rule in the user's message, and remembers who called. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { piecesOf, ruleOf, textFor } from './rules.ts'
import { chatWire, responsesWire, type Wire } from './wires.ts'

/** A call that the model was made. */
export interface Call {
  /** The newest user message. */
  message: string
  state: 'running' | 'answered' | 'left'
}

export interface Model {
  /** The base URL, with `/v1`. */
  url: string
  /** Returns the calls for a message. */
  callsFor(message: string): Call[]
  close(): Promise<void>
}

export async function startModel(port: number): Promise<Model> {
  const calls: Call[] = []
  // Longer than most pools keep a connection: a server that stood still would ask on one that has just been closed.
  const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
    answer(request, response, calls).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://127.0.0.1:${bound}/v1`,
    callsFor: (message) => calls.filter((call) => call.message.includes(message)),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, calls: Call[]): Promise<void> {
  const path = request.url ?? ''
  if (path.endsWith('/models')) return sendJson(response, { object: 'list', data: [{ id: 'suite', object: 'model' }] })
  const isChat = path.endsWith('/chat/completions')
  if (!isChat && !path.endsWith('/responses')) return sendJson(response, { error: { message: 'Not found.' } }, 404)
  const body = Object(JSON.parse(await textOf(request)))
  const message = newestUserText(isChat ? body.messages : body.input)
  const id = randomUUID().slice(0, 8)
  const wire = isChat ? chatWire(id, 'suite') : responsesWire(id, 'suite')
  const call: Call = { message, state: 'running' }
  calls.push(call)
  response.once('close', () => {
    if (call.state === 'running') call.state = 'left'
  })
  if (body.stream === true) await stream(response, wire, { call, isFollowUp: answersCall(body.messages ?? body.input) })
  else sendJson(response, wire.whole(textFor(message)))
  if (call.state === 'running') call.state = 'answered'
}

async function stream(
  response: ServerResponse,
  wire: Wire,
  { call, isFollowUp }: { call: Call; isFollowUp: boolean },
): Promise<void> {
  const rule = ruleOf(call.message)
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = async (events: string[]) => {
    for (const event of events) {
      for (const part of rule.unicode ? inHalves(Buffer.from(event)) : [event]) {
        if (response.destroyed) return
        if (!response.write(part)) await drained(response)
        if (rule.unicode) await pause(2)
      }
    }
  }
  await write(wire.begin())
  if (rule.kind === 'hang') return void (await once(response, 'close'))
  for (const piece of piecesOf(rule)) {
    await write(wire.text(piece))
    if (rule.gapMs > 0) await pause(rule.gapMs)
    if (response.destroyed) return
  }
  if (rule.kind === 'fail') {
    await pause(20) // so that the text so far is read before the connection breaks
    return void response.destroy()
  }
  if (rule.call && !isFollowUp) await write(wire.call(rule.call))
  await write(wire.end())
  response.end()
}

/** Resolves when the reader has taken what was written, or has left. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

/** Returns the bytes in parts, each cut inside a character of several bytes. */
function inHalves(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (let at = 1; at < bytes.length; at += 1) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80 || ((bytes[at - 1] ?? 0) & 0xc0) !== 0xc0) continue
    parts.push(bytes.subarray(from, at))
    from = at
  }
  return [...parts, bytes.subarray(from)]
}

function newestUserText(given: unknown): string {
  if (typeof given === 'string') return given
  const messages = Array.isArray(given) ? given : []
  const content: unknown = Object(messages.findLast((message) => Object(message).role === 'user')).content
  if (typeof content === 'string') return content
  return (Array.isArray(content) ? content : []).map((part) => String(Object(part).text ?? '')).join('')
}

/** Returns whether the call's result is there, so that the model calls nothing again. */
function answersCall(given: unknown): boolean {
  const last = Object(Array.isArray(given) ? given.at(-1) : null)
  return last.role === 'tool' || last.type === 'function_call_output'
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
