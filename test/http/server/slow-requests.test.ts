/** Contract section 18: a request arrives in time, or is not waited for. Real sockets, with limits of milliseconds. */
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { ARRIVAL_LIMITS, isLate } from '../../../src/http/server/request-body/slow-requests.ts'
import { verifies } from '../../verifies.ts'
import { begin, closeAll, MIB, start } from './arrival-scene.ts'

afterEach(closeAll)

verifies('contract-18.arrival', 'a body that stops arriving is answered 408 in the format of its surface', async () => {
  const port = await start({ freeMs: 100 })
  const { socket, closed } = begin(port, '/taken', 100)
  socket.write('{"x":')
  const said = await closed
  expect(said).toMatch(/^HTTP\/1.1 408 /)
  expect(said).toMatch(/\{"message":"The request did not arrive in time."\}$/)
})

verifies('contract-18.arrival', 'a refused request is answered at once, and its body not waited for', async () => {
  const port = await start({ lingerMs: 100 })
  const { socket, closed } = begin(port, '/taken', 4 * MIB, 'authorization: wrong\r\n')
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  await closed
})

verifies('contract-1.body-limit', 'a client that writes on after its 413 reads it, and is served again', async () => {
  const port = await start({}, MIB / 2)
  const { socket, closed } = begin(port, '/taken', MIB)
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1.1 413 /)
  expect(answer).not.toMatch(/^connection: close/im)
  socket.write(Buffer.alloc(MIB, ' '))
  socket.end(
    'POST /taken HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  )
  expect(await closed).toMatch(/HTTP\/1.1 200 .*\{"taken":true\}$/s)
})

verifies(
  'contract-26.refused-bodies',
  'of what a client writes on, 1 MiB is read, and its answer is there',
  async () => {
    const port = await start({})
    const { socket, closed } = begin(port, '/taken', 5 * MIB, 'connection: close\r\n')
    const faults: Error[] = []
    socket.on('error', (error) => faults.push(error))
    const [answer] = await once(socket, 'data')
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toMatch(/^connection: close/im)
    await new Promise((resolve) => socket.write(Buffer.alloc(MIB), resolve))
    expect([faults, socket.destroyed]).toEqual([[], false])
    // Nobody waits for the rest.
    expect(await closed).toContain('HTTP/1.1 413')
  },
)

verifies('contract-26.refused-bodies', 'what is written beyond that is not read', async () => {
  const port = await start({ lingerMs: 500 })
  const { socket, closed } = begin(port, '/taken', 200 * MIB)
  await once(socket, 'data')
  let sent = 0
  const write = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(MIB / 4))) sent += MIB / 4
    socket.once('drain', write)
  }
  write()
  expect(await closed).toContain('HTTP/1.1 413')
  expect(sent).toBeLessThan(100 * MIB) // the system's own buffers are some MiB
})

verifies('contract-26.open-arrival', 'a body of a route without credential has 10 s', async () => {
  const port = await start({ openMs: 100 })
  const { socket, closed } = begin(port, '/open', 100)
  socket.write('{"x":')
  expect(await closed).toMatch(/^HTTP\/1.1 408 /)
  const other = begin(port, '/taken', 2, 'connection: close\r\n')
  await new Promise((resolve) => setTimeout(resolve, 300)) // as many checks
  other.socket.write('{}')
  expect(await other.closed).toMatch(/^HTTP\/1.1 200 /)
})

verifies('contract-18.arrival', 'streams that run after their request has arrived are untouched', async () => {
  const port = await start({ freeMs: 20, longestMs: 50, lingerMs: 20 })
  const { closed } = begin(port, '/stream', 2, 'connection: close\r\n', '{}')
  expect((await closed).split('data: x').length - 1).toBe(30)
})

const limits = {
  freeMs: 60_000,
  bytesPerS: 65_536,
  longestMs: 600_000,
  openMs: 10_000,
  lingerMs: 2000,
  lingerBytes: MIB,
  checkMs: 1000,
}

verifies('contract-18.arrival', 'the limits are those of the contract', () => expect(ARRIVAL_LIMITS).toEqual(limits))

test.each([
  ['nothing in the first minute', { ageMs: 59_999, windowBytes: 0 }, false],
  ['nothing after it', { ageMs: 60_000, windowBytes: 0 }, true],
  ['64 KiB a second', { ageMs: 60_000, windowBytes: 65_536 }, false],
  ['one byte less', { ageMs: 60_000, windowBytes: 65_535 }, true],
  ['64 KiB in a check that came late', { ageMs: 60_000, windowMs: 1500, windowBytes: 98_304 }, false],
  ['fast, in the tenth minute', { ageMs: 599_999, windowBytes: 10 * MIB }, false],
  ['fast, after it', { ageMs: 600_000, windowBytes: 10 * MIB }, true],
  ['within 10 s, without a credential', { ageMs: 9999, longestMs: 10_000, windowBytes: MIB }, false],
  ['after them', { ageMs: 10_000, longestMs: 10_000, windowBytes: MIB }, true],
])('%s', (_, progress, late) => {
  expect(isLate({ windowMs: 1000, longestMs: 600_000, ...progress }, limits)).toBe(late)
})
