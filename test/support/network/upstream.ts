/**
 * A model vendor for tests: real HTTP, the chat-completions streaming format, each call answered by a script.
 *
 *     await using up = await startUpstream()
 *     up.next(async (call) => {
 *       call.text('Hel')
 *       await gate                       // any promise: the stream pauses
 *       call.text('lo')
 *       call.finish('stop', { prompt_tokens: 3, completion_tokens: 2 })
 *     })
 *     // … have the code under test call up.url, then:
 *     (await up.call(1)).body.messages   // the messages of the first call
 *
 * Scripts queued by `next` run first, one for each call, then the one set by `always`; a call without a script gets a 500
 * that is not retried. GET …/models returns `up.models` (null: 404). Errors of scripts are thrown by `close`.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseExact } from '../../../src/untrusted/exact-json.ts'
import { keptAlive } from './kept-alive.ts'

export type Script = (call: UpstreamCall) => unknown

export interface UpstreamUsage {
  prompt_tokens: number
  completion_tokens: number
}

export interface UpstreamCall {
  /** 1 for the first completion call. */
  readonly number: number
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The request's JSON, `{}` if there was none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access it freely
  readonly body: any
  /** A promise that resolves when the call is over: the response was sent completely, or the client disconnected. */
  readonly closed: Promise<void>
  /** True once the client disconnected before the response was complete. */
  readonly abandoned: boolean
  /** Writes text. All writers resolve when the bytes were passed to the system, or the client is gone. */
  text(content: string): Promise<void>
  delta(delta: Record<string, unknown>, finishReason?: string | null): Promise<void>
  /** Writes a frame with these fields; strings are sent verbatim (`[DONE]`). */
  data(data: Record<string, unknown> | string): Promise<void>
  comment(text?: string): Promise<void>
  raw(bytes: string | Uint8Array): Promise<void>
  /** Writes a tool call, its arguments in pieces of `pieceLength` characters. */
  toolCall(call: { index?: number; id?: string; name: string; arguments: string }, pieceLength?: number): Promise<void>
  /**
   * Writes finish chunk, usage chunk (if requested, or given with `force`), `[DONE]`, and ends. Absent usage: a token
   * each where the upstream reports usage; null: none.
   */
  finish(reason?: string, usage?: UpstreamUsage | null, force?: boolean): Promise<void>
  /** Writes a response without streaming. */
  json(body: unknown, headers?: Record<string, string>): void
  error(status: number, body?: unknown, headers?: Record<string, string>): void
  /** Writes a 100 Continue that the client did not ask for, before the headers. */
  interim(): void
  /** Sends the status line and headers of a stream before its first frame. */
  open(headers?: Record<string, string>): void
  /** Ends the stream without a last frame. */
  end(): void
  /**
   * Cuts the connection, before the headers or within the stream. What the client has not read by then is lost to it, so a
   * test that expects a text waits until it is seen, or breaks the stream off with `end`.
   */
  reset(): void
}

export interface Upstream extends AsyncDisposable {
  /** Base URL with `/v1`. */
  readonly url: string
  /** Completion calls in order of arrival. */
  readonly calls: readonly UpstreamCall[]
  /** Every request's `METHOD path`, model lists included. */
  readonly requests: readonly string[]
  /** Connections opened so far, and open now. */
  readonly connections: { opened: number; open: number }
  models: string[] | null
  next(script: Script): void
  always(script: Script): void
  /** Drops the scripts that have not run. */
  forget(): void
  /** Returns the nth completion call (from 1), as soon as it arrives. */
  call(number: number): Promise<UpstreamCall>
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** The response to GET by path, instead of the common list of models. */
  list?: (path: string) => unknown
  /**
   * Announces usage in each chunk of a stream and sends it last, as OpenAI does when it is requested. When false, it sends what a
   * script gives. Our tokenizer's thread, 0.4 s of processor time, starts for a model that announces nothing.
   */
  reportsUsage?: boolean
}

export async function startUpstream({ list, reportsUsage = true }: UpstreamOptions = {}): Promise<Upstream> {
  const calls: UpstreamCall[] = []
  const requests: string[] = []
  const scripts: Script[] = []
  const faults: unknown[] = []
  const awaited = new Map<number, PromiseWithResolvers<UpstreamCall>>()
  const connections = { opened: 0, open: 0 }
  let always: Script = (call) => call.error(500, { error: { message: 'no script' } }, { 'x-should-retry': 'false' })
  let models: string[] | null = ['model-a', 'model-b']

  const server = createServer(keptAlive, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      faults.push(error)
      response.destroy()
    })
  })
  server.on('connection', (socket) => {
    connections.opened++
    connections.open++
    socket.on('close', () => connections.open--)
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(`${request.method} ${request.url}`)
    const body = await readBody(request)
    if (request.method === 'GET' && list) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list(request.url ?? '')))
      return
    }
    if (request.method === 'GET') return listModels(models, response)
    const call = callOf(calls.length + 1, request, response, body, reportsUsage)
    calls.push(call)
    awaited.get(call.number)?.resolve(call)
    await (scripts.shift() ?? always)(call)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
    if (faults.length > 0) throw faults[0]
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    requests,
    connections,
    get models() {
      return models
    },
    set models(ids) {
      models = ids
    },
    next: (script) => void scripts.push(script),
    forget: () => void scripts.splice(0),
    always: (script) => {
      always = script
    },
    call(number) {
      const arrived = calls[number - 1]
      if (arrived) return Promise.resolve(arrived)
      const waiting = awaited.get(number) ?? Promise.withResolvers<UpstreamCall>()
      awaited.set(number, waiting)
      return waiting.promise
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listModels(models: string[] | null, response: ServerResponse): void {
  response.writeHead(models ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', data: (models ?? []).map((id) => ({ id, object: 'model' })) }))
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const text = Buffer.concat(parts).toString()
  return text === '' ? {} : parseExact(text)
}

const aTokenEach: UpstreamUsage = { prompt_tokens: 1, completion_tokens: 1 }

function callOf(
  number: number,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
  reportsUsage: boolean,
): UpstreamCall {
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  response.on('error', () => {}) // clients may disconnect
  const write = (bytes: string | Uint8Array) => {
    call.open()
    return new Promise<void>((resolve) => {
      if (response.destroyed || response.writableEnded) return resolve()
      response.once('close', resolve)
      response.write(bytes, () => {
        response.off('close', resolve)
        resolve()
      })
    })
  }
  const chunk = (fields: Record<string, unknown>) =>
    call.data({
      ...{ id: `up-${number}`, object: 'chat.completion.chunk', created: 1, model: 'up' },
      ...(reportsUsage && isUsageRequested() && { usage: null }),
      ...fields,
    })
  const isUsageRequested = (): boolean => call.body.stream_options?.include_usage === true
  const plain = (status: number, value: unknown, headers: Record<string, string>) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  }
  const call: UpstreamCall = {
    number,
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body,
    closed,
    get abandoned() {
      return response.destroyed && !response.writableFinished
    },
    text: (content) => call.delta({ content }),
    delta: (delta, finishReason = null) => chunk({ choices: [{ index: 0, delta, finish_reason: finishReason }] }),
    data: (data) => write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`),
    comment: (text = 'ping') => write(`: ${text}\n\n`),
    raw: write,
    async toolCall({ index = 0, id = `call_${number}_${index}`, name, arguments: text }, pieceLength = 3) {
      const send = (part: Record<string, unknown>) => call.delta({ tool_calls: [{ index, ...part }] })
      await send({ id, type: 'function', function: { name, arguments: '' } })
      for (let at = 0; at < text.length; at += pieceLength) {
        await send({ function: { arguments: text.slice(at, at + pieceLength) } })
      }
    },
    async finish(reason = 'stop', usage, force = false) {
      await call.delta({}, reason)
      const sent = usage === undefined && reportsUsage ? aTokenEach : usage
      if (sent && ((usage && force) || isUsageRequested())) await chunk({ choices: [], usage: sent })
      await call.data('[DONE]')
      response.end()
    },
    json: (value, headers = {}) => plain(200, value, headers),
    error: (status, value = { error: { message: `status ${status}` } }, headers = {}) => plain(status, value, headers),
    interim: () => response.writeContinue(),
    open(headers = {}) {
      if (response.headersSent || response.destroyed) return
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
      response.flushHeaders()
    },
    end: () => void response.end(),
    reset: () => void (response.socket?.resetAndDestroy() ?? response.destroy()),
  }
  return call
}
