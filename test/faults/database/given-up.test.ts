/** A statement that is given up before its server has let the connection in (contract section 10, "503"). */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect } from 'vitest'
import { changedNothing, connect } from '../../../src/persistence/postgres/database.ts'
import { verifies } from '../../verifies.ts'

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
/** AuthenticationOk, one ParameterStatus and ReadyForQuery. */
const greeting = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('server_version\0' + '18\0')),
  message('Z', Buffer.from('I')),
])

verifies('contract-10.unknown-admission', 'it is never sent, however late the server lets it in', async () => {
  const received: string[] = []
  let letIn = () => {}
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      letIn = () => socket.write(greeting)
      socket.on('data', (bytes) => received.push(bytes.toString('latin1', 0, 1)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let n = 0; n < 20; n++) {
    const sql = connect(`postgres://a@127.0.0.1:${port}/b`, { max: 1, name: 'late', timeoutMs: 100, silenceMs: 30 })
    const error = await sql.unsafe('insert into t values (1)').then(
      () => null,
      (reason: unknown) => {
        letIn() // within the moment that the library takes to close the connection
        return reason
      },
    )
    expect(changedNothing(error)).toBe(true)
    await sql.end({ timeout: 1 })
  }
  const closed = once(server, 'close')
  server.close()
  await closed
  // X is a client that takes its leave.
  expect(received.filter((type) => type !== 'X')).toEqual([])
})
