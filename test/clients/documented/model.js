/**
 * A model for the steps, as a server of chat completions: `/echo TEXT` is answered with TEXT, `/long N` and `/slow N` with N words,
 * `/tool NAME JSON` with that call, results with themselves, and everything else with all that the model was sent.
 * `node model.js` prints its address.
 */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join('')

/** Returns the pieces of a text, or a call, that answer these messages. */
function answerTo({ messages, tools = [], tool_choice: choice, max_tokens, max_completion_tokens }) {
  const last = messages.at(-1)
  const said = textOf(last.content)
  if (last.role === 'tool') return { pieces: [`The result: ${said}`] }
  const [, command, rest = ''] = /^\/(\w+) ?([\s\S]*)$/.exec(said) ?? []
  if (command === 'tool' && tools.length > 0 && choice !== 'none') {
    const [name, ...json] = rest.split(' ')
    return { call: { name, arguments: json.join(' ') } }
  }
  if (command === 'echo') return { pieces: rest.match(/\S+\s*|\s+/g) ?? [] }
  if (command === 'long' || command === 'slow') {
    const most = max_completion_tokens ?? max_tokens ?? Number.POSITIVE_INFINITY
    const pieces = Array.from({ length: Math.min(Number(rest), most) }, (_, n) => `${n + 1} `)
    return { pieces, everyMs: command === 'slow' ? 100 : 0, isCut: pieces.length < Number(rest) }
  }
  return { pieces: [messages.map(({ role, content }) => `${role}: ${textOf(content)}`).join('\n')] }
}

async function respond(request, response) {
  let body = ''
  for await (const chunk of request) body += chunk
  const { pieces = [], call, everyMs = 0, isCut = false } = answerTo(JSON.parse(body))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const write = (choice, more = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', choices: choice ? [{ index: 0, ...choice }] : [], ...more })}\n\n`,
    )
  for (const content of pieces) {
    if (response.destroyed) return
    write({ delta: { content } })
    if (everyMs > 0) await pause(everyMs)
  }
  if (call) write({ delta: { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] } })
  write({ delta: {}, finish_reason: call ? 'tool_calls' : isCut ? 'length' : 'stop' })
  write(null, { usage: { prompt_tokens: 10, completion_tokens: pieces.length, total_tokens: 10 + pieces.length } })
  response.end('data: [DONE]\n\n')
}

/** Starts it on a free port. `url` is its base URL. */
export async function startModel() {
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close }
}

if (import.meta.main) console.log((await startModel()).url)
