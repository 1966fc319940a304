/**
 * Loaded into a Greenroom before its own modules (`node --import`): notes when a request passes each step, from the channels of
 * Node.js, Fastify and undici and from its sockets, so that any version can be measured as it is. Requests come one at a time.
 * At its end the process writes the marks of each as JSON to the file FIRST_BYTE_MARKS.
 */
import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** A step that a request passed, and when (microseconds since the request). */
export type Mark = readonly [name: string, us: number]

const requests: Mark[][] = []
let marks: Mark[] | null = null
let began = 0

const mark = (name: string): void => void marks?.push([name, (performance.now() - began) * 1000])

/** Begins with a request of a reply; others are not measured. */
function begin(message: unknown): void {
  const { request, response }: { request: { url: string }; response: ServerResponse } = Object(message)
  if (!request.url.endsWith('/chat/completions')) return
  began = performance.now()
  marks = [['request', 0]]
  const write = response.write
  const noted = (chunk: unknown, ...rest: never[]) => {
    const written = Reflect.apply(write, response, [chunk, ...rest])
    if (!/T\d{13}/.test(String(chunk))) mark('frame')
    else if (marks !== null) {
      mark('token')
      requests.push(marks)
      marks = null
    }
    return written
  }
  Object.assign(response, { write: noted })
}

/** Marks what is received from PostgreSQL. */
function watchDatabase(message: unknown): void {
  const { socket }: { socket: Socket } = Object(message)
  socket.prependListener('data', () => {
    if (isDatabase(socket)) mark('rows')
  })
}

/** Marks what is sent to PostgreSQL. */
const { write } = Socket.prototype
Socket.prototype.write = function (this: Socket, ...given: unknown[]): boolean {
  if (isDatabase(this)) mark('statement')
  return Reflect.apply(write, this, given)
}

/** Returns whether the socket leads to the embedded PostgreSQL: that listens on a Unix socket, models do not. */
const isDatabase = (socket: Socket): boolean => socket.remotePort === undefined

subscribe('http.server.request.start', begin)
subscribe('tracing:fastify.request.handler:start', () => mark('handler'))
subscribe('net.client.socket', watchDatabase)
subscribe('undici:request:create', () => mark('call'))
subscribe('undici:client:sendHeaders', () => mark('sent'))
subscribe('undici:request:headers', () => mark('answered'))
subscribe('undici:request:bodyChunkReceived', () => mark('chunk'))
process.on('exit', () => {
  const file = process.env.FIRST_BYTE_MARKS
  if (file !== undefined) writeFileSync(file, JSON.stringify(requests))
})
