/** Forwards each request and pipes the response back. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'

const upstream = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true })

const server = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming
  const onward = request(
    { host: upstream.hostname, port: upstream.port, path: url, method, headers, agent },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    },
  )
  onward.on('error', () => outgoing.destroy())
  outgoing.on('close', () => onward.destroy())
  incoming.pipe(onward)
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
await once(server, 'listening')
process.send?.(server.address())
process.on('disconnect', () => process.exit(0))
