/**
 * The model of the chaos runs: a vendor over HTTP whose words contain their call's number (`c17.1 c17.2 …`), so that every
 * word in a reply identifies its call, and a tool that it calls. Each call is recorded.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface ModelCall {
  number: number
  /** The marker of the user message that it answers. */
  marker: string
  /** 0, plus one for each tool result after that message. */
  turn: number
  /** Words written to the socket, whether or not they were received. */
  words: number
  /** `refused`: before the first word; `broke`: after a word; `left`: the caller disconnected. */
  end: 'running' | 'refused' | 'broke' | 'left' | 'tool' | 'stop' | 'length'
}

export interface ChaosModel extends AsyncDisposable {
  /** Base URL with `/v1`. */
  url: string
  toolUrl: string
  calls: readonly ModelCall[]
  /** The tool's effects, by the idempotency key of each call. */
  effects: readonly string[]
  /** From now on it only sends short, successful replies. */
  calm(): void
}

export const TOOL = 'lookup'

export const wordOf = (call: number, n: number): string => `c${call}.${n}é🙂 `

/** A user message; the model finds the marker and its behaviour in it. */
export const textOf = (marker: string, manner: Manner | '' = ''): string => `${marker} tell me${manner && ` ${manner}`}`
/** `talking`: a word now and then, endlessly; `silent`: one word and nothing more. */
export type Manner = 'talking' | 'silent'
export const markerIn = (text: string): string | null => [...text.matchAll(/\bm\d+\.\d+\b/g)].at(-1)?.[0] ?? null

export async function startModel(random: () => number): Promise<ChaosModel> {
  const calls: ModelCall[] = []
  const effects: string[] = []
  let isCalm = false
  const server = createServer((request, response) => {
    response.on('error', () => {}) // callers may disconnect
    const isTool = request.url === '/tool'
    if (isTool) effects.push(String(request.headers['idempotency-key']))
    const answered = isTool ? lookUp(response, random) : complete(request, response)
    answered.catch(() => response.destroy())
  })
  async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { marker, manner, turn, offersTools } = readRequest(await bodyOf(request))
    const call: ModelCall = { number: calls.length + 1, marker, turn, words: 0, end: 'running' }
    calls.push(call)
    const left = new AbortController()
    response.on('close', () => left.abort())
    const usual = isCalm ? calmPart : partFor(random, offersTools && turn < 2)
    const part = manner === null ? usual : { ...calmPart, ...manners[manner] }
    await play(part, call, response, left.signal).catch(() => {
      if (call.end === 'running') call.end = 'left'
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    url: `${origin}/v1`,
    toolUrl: `${origin}/tool`,
    calls,
    effects,
    calm() {
      isCalm = true
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Part {
  words: number
  /** Longest wait before a word (milliseconds). */
  pace: number
  end: 'refused' | 'broke' | 'tool' | 'stop' | 'length' | 'silent'
  status: number
  random(): number
}

const calmPart: Part = { words: 3, pace: 0, end: 'stop', status: 200, random: () => 0 }

const manners = {
  talking: { words: Number.POSITIVE_INFINITY, pace: 100, random: () => 0.5 },
  silent: { words: 1, end: 'silent' },
} as const satisfies Record<Manner, Partial<Part>>

function partFor(random: () => number, mayCall: boolean): Part {
  const kind = random()
  const status = [500, 429, 503, 0][Math.floor(random() * 4)] ?? 500
  const words = random() < 0.15 ? 60 + Math.floor(random() * 140) : 1 + Math.floor(random() * 40)
  const part = { words, pace: random() * 80, status, random }
  if (kind < 0.1) return { ...part, words: 0, end: 'refused' }
  if (kind < 0.16) return { ...part, end: 'broke' }
  if (kind < 0.36 && mayCall) return { ...part, words: Math.floor(random() * 6), end: 'tool' }
  return { ...part, end: kind > 0.95 ? 'length' : 'stop' }
}

async function play(part: Part, call: ModelCall, response: ServerResponse, left: AbortSignal): Promise<void> {
  if (part.end === 'refused') {
    call.end = 'refused'
    if (part.status === 0) response.destroy()
    else response.writeHead(part.status).end(JSON.stringify({ error: { message: 'not now' } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (delta: object, finish: string | null = null) =>
    written(response, chunk({ choices: [{ index: 0, delta, finish_reason: finish }] }))
  while (call.words < part.words) {
    if (part.pace > 0) await pause(part.random() * part.pace, undefined, { signal: left })
    left.throwIfAborted()
    call.words += 1
    await say({ content: wordOf(call.number, call.words) })
  }
  if (part.end === 'silent') {
    await pause(600_000, undefined, { signal: left })
    return
  }
  if (part.end === 'broke') {
    await pause(20) // the last words are in transit
    call.end = 'broke'
    response.destroy()
    return
  }
  if (part.end === 'tool') {
    const wanted = { name: TOOL, arguments: JSON.stringify({ about: call.marker }) }
    await say({ tool_calls: [{ index: 0, id: `call_${call.number}`, type: 'function', function: wanted }] })
  }
  await say({}, part.end === 'tool' ? 'tool_calls' : part.end)
  call.end = part.end
  if (part.random() < 0.5) {
    await written(response, chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: call.words } }))
  }
  response.end('data: [DONE]\n\n')
}

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'up', object: 'chat.completion.chunk', created: 1, model: 'up', ...fields })}\n\n`

/** Rejects when the caller has disconnected. */
function written(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

async function lookUp(response: ServerResponse, random: () => number): Promise<void> {
  await pause(random() * 300)
  response.writeHead(random() < 0.1 ? 500 : 200, { 'content-type': 'text/plain' }).end('found')
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString())
}

interface Asked {
  marker: string
  manner: Manner | null
  turn: number
  offersTools: boolean
}

function readRequest(body: unknown): Asked {
  const { messages, tools } = Object(body)
  const all: { role: string; content: unknown }[] = Array.isArray(messages) ? messages : []
  // Behind it another one may tell the model to go on.
  const asked = all.findLastIndex(({ role, content }) => role === 'user' && markerIn(String(content)) !== null)
  const text = String(all[asked]?.content ?? '')
  return {
    marker: markerIn(text) ?? 'none',
    manner: text.endsWith(' talking') ? 'talking' : text.endsWith(' silent') ? 'silent' : null,
    turn: all.slice(asked + 1).filter(({ role }) => role === 'tool').length,
    offersTools: Array.isArray(tools) && tools.length > 0,
  }
}
