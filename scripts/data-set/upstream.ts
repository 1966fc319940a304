/** A model provider for the time in which the data set is made. Each message says what it is to do. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'

const frame = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

interface Asked {
  messages: { role: string; content: string }[]
}

/**
 * Answers a request: `status 429` refuses, `call` calls the clock, `loop 16` calls it that often, `long` says 200 kB;
 * anything else gets a short answer.
 */
function answer({ messages }: Asked, response: ServerResponse): void {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  const [, word = '', number = '0'] = /^(status|call|loop|long)\s*(\d*)/.exec(said) ?? []
  const results = messages.filter(({ role }) => role === 'tool').length
  if (word === 'status') {
    response.writeHead(Number(number), { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'A scripted refusal.', type: 'scripted' } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if ((word === 'call' && results === 0) || (word === 'loop' && results < Number(number))) {
    const call = {
      index: 0,
      id: `call_${results}`,
      type: 'function',
      function: { name: 'current_time', arguments: '{}' },
    }
    response.end(`${frame({ role: 'assistant', tool_calls: [call] })}${frame({}, 'tool_calls')}data: [DONE]\n\n`)
    return
  }
  const text = word === 'long' ? 'A line of a very long answer, which goes on.\n'.repeat(4500) : 'Here it is: **done**.'
  response.end(`${frame({ role: 'assistant', content: text })}${frame({}, 'stop')}data: [DONE]\n\n`)
}

/** Starts the provider. Its address is valid until it is disposed of. */
export async function startScripted() {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => answer(JSON.parse(Buffer.concat(pieces).toString('utf8')), response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
