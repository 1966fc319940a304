/**
 * The model, a separate process: chat completions, streamed or not. The last user message controls it:
 * `tokens=100 rate=50` is 100 tokens at 50 a second by the clock (delays are caught up), `rate=0` all at once, several
 * events in a write as vendors do; `burst=20` sends that many tokens of a paced reply at once first; `hold=30` waits 30
 * seconds before the end; `calls=1` first calls every tool in the request once. Each token is `T`, the time it was
 * written in microseconds of the machine's monotonic clock (thirteen digits, increasing within a reply), and a space.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'

/** Tokens in one write of an unpaced reply. */
const BATCH = 8

type Tool = { function: { name: string; parameters: { required?: string[] } } }

type Wish = { tokens: number; rate: number; burst: number; holdS: number; wantsUsage: boolean; calls: readonly Tool[] }

const head = `"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench"`
const chunk = (choices: string, more = '') => `data: {${head},"choices":[${choices}]${more}}\n\n`

/** Returns the frames of a reply. If usage is requested, it is null in all but the last, as OpenAI documents. */
function framesOf(wantsUsage: boolean) {
  const more = wantsUsage ? ',"usage":null' : ''
  const delta = (text: string, finish = 'null') =>
    chunk(`{"index":0,"delta":${text},"logprobs":null,"finish_reason":${finish}}`, more)
  const [beforeToken = '', afterToken = ''] = delta('{"content":"@"}').split('@')
  return { delta, beforeToken, afterToken, roleChunk: delta('{"role":"assistant","content":""}') }
}

const withUsage = framesOf(true)
const withoutUsage = framesOf(false)
const framesFor = ({ wantsUsage }: Wish) => (wantsUsage ? withUsage : withoutUsage)

const usageOf = ({ tokens }: Wish) => `{"prompt_tokens":10,"completion_tokens":${tokens},"total_tokens":${tokens + 10}}`

/** Creates the timestamped tokens of a reply. */
function stamps(): () => string {
  let last = 0
  return () => {
    last = Math.max(last + 1, Math.floor(Number(process.hrtime.bigint() / 1000n)))
    return `T${String(last).padStart(13, '0')} `
  }
}

function finish(response: ServerResponse, wish: Wish, reason = 'stop'): void {
  const usage = wish.wantsUsage ? chunk('', `,"usage":${usageOf(wish)}`) : ''
  const end = () => response.end(`${framesFor(wish).delta('{}', `"${reason}"`)}${usage}data: [DONE]\n\n`)
  if (wish.holdS === 0) return void end()
  const timer = setTimeout(end, wish.holdS * 1000)
  response.on('close', () => clearTimeout(timer))
}

function streamPaced(response: ServerResponse, wish: Wish): void {
  const stamp = stamps()
  const { roleChunk, beforeToken, afterToken } = framesFor(wish)
  const begin = performance.now()
  let sent = 0
  let timer: NodeJS.Timeout | undefined
  const dueAt = () => begin + (Math.max(0, sent - wish.burst) * 1000) / wish.rate
  const next = () => {
    while (sent < wish.tokens && dueAt() <= performance.now() + 0.5) {
      response.write(`${sent === 0 ? roleChunk : ''}${beforeToken}${stamp()}${afterToken}`)
      sent++
    }
    if (sent === wish.tokens) return finish(response, wish)
    timer = setTimeout(next, Math.max(0, dueAt() - performance.now()))
  }
  response.on('close', () => clearTimeout(timer))
  next()
}

function streamAtOnce(response: ServerResponse, wish: Wish): void {
  const stamp = stamps()
  const { roleChunk, beforeToken, afterToken } = framesFor(wish)
  let sent = 0
  const next = () => {
    if (response.destroyed) return
    let text = sent === 0 ? roleChunk : ''
    for (const end = Math.min(wish.tokens, sent + BATCH); sent < end; sent++) {
      text += `${beforeToken}${stamp()}${afterToken}`
    }
    const isFlowing = response.write(text)
    if (sent === wish.tokens) finish(response, wish)
    else if (isFlowing) setImmediate(next)
    else response.once('drain', next)
  }
  next()
}

/** Writes tool calls. Every required string argument is `hello`. */
function callTools(response: ServerResponse, wish: Wish): void {
  const calls = wish.calls.map(({ function: { name, parameters } }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: {
      name,
      arguments: JSON.stringify(Object.fromEntries((parameters.required ?? []).map((key) => [key, 'hello']))),
    },
  }))
  const { roleChunk, delta } = framesFor(wish)
  response.write(roleChunk + delta(JSON.stringify({ tool_calls: calls })))
  finish(response, wish, 'tool_calls')
}

function answerWhole(response: ServerResponse, wish: Wish): void {
  const stamp = stamps()
  const send = () => {
    const text = Array.from({ length: wish.tokens }, stamp).join('')
    const message = `"message":{"role":"assistant","content":"${text}","refusal":null}`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      `{"id":"chatcmpl-bench","object":"chat.completion","created":1790000000,"model":"bench",` +
        `"choices":[{"index":0,${message},"logprobs":null,"finish_reason":"stop"}],"usage":${usageOf(wish)}}`,
    )
  }
  if (wish.rate === 0) send()
  else setTimeout(send, (wish.tokens * 1000) / wish.rate)
}

/** Reads the wish in a request. Content may be a string or text parts. */
function readWish(body: string): Wish & { stream: boolean } {
  const parsed = Object(JSON.parse(body))
  const last = parsed.messages.findLast((message: { role: string }) => message.role === 'user')
  const text = JSON.stringify(last.content)
  const number = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(text)?.[1] ?? 0)
  return {
    tokens: number('tokens'),
    rate: number('rate'),
    burst: number('burst'),
    holdS: number('hold'),
    calls: number('calls') > 0 && parsed.messages.at(-1) === last ? (parsed.tools ?? []) : [],
    stream: parsed.stream === true,
    wantsUsage: parsed.stream_options?.include_usage === true,
  }
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'application/json')
      response.end('{"object":"list","data":[{"id":"bench","object":"model","created":1790000000,"owned_by":"bench"}]}')
      return
    }
    const wish = readWish(Buffer.concat(parts).toString())
    if (!wish.stream) return answerWhole(response, wish)
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
    if (wish.calls.length > 0) callTools(response, wish)
    else if (wish.rate > 0) streamPaced(response, wish)
    else streamAtOnce(response, wish)
  })
})
// Connections are kept alive between the parts of a turn: none may close under a request in flight.
server.keepAliveTimeout = 120_000
server.listen({ port: Number(process.argv[2] ?? 0), host: '127.0.0.1', backlog: 4096 })
await once(server, 'listening')
if (process.send) process.send(server.address())
else console.log(server.address())
process.on('disconnect', () => process.exit(0))
