/**
 * A model in a process of its own, which does what the user's message says: `20 400` is 400 tokens at 20 a second,
 * `0 0` is a model that never says anything.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

const frame = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** By the clock, so that a process that was late catches up. */
function play(response: ServerResponse, perSecond: number, tokens: number): void {
  const begin = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    for (; sent < tokens && performance.now() - begin >= ((sent + 1) * 1000) / perSecond; sent++) {
      response.write(frame({ content: `token${sent} ` }))
    }
    if (sent < tokens) return
    clearInterval(timer)
    response.end(`${frame({}, 'stop')}data: [DONE]\n\n`)
  }, 5)
  response.on('close', () => clearInterval(timer))
}

const server = createServer(async (request, response) => {
  const body = Object(await json(request))
  const [perSecond = 0, tokens = 0] = String(body.messages.at(-1).content).split(' ').map(Number)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  if (perSecond > 0) play(response, perSecond, tokens)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.(server.address())
process.on('disconnect', () => process.exit(0))
