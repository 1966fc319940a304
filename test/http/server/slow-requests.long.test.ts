/** Contract section 26: hundreds of bodies that never end, and what they hold. */
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, onTestFinished } from 'vitest'
import { verifies } from '../../verifies.ts'
import { begin, closeAll, MIB, start } from './arrival-scene.ts'

afterEach(closeAll)

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

verifies(
  'contract-26.shares',
  '200 bodies of one holder that never end hold 48 MiB, and keep nobody else out',
  async () => {
    // This process writes 800 MB meanwhile: two whole bodies must come through in that time.
    const port = await start({ freeMs: 10_000, lingerMs: 1000 })
    const chunk = Buffer.alloc(MIB, ' ')
    const limit = 176 * MIB // the client and what the sockets read included
    collect()
    const before = process.memoryUsage().arrayBuffers
    const held = () => process.memoryUsage().arrayBuffers - before
    let most = 0
    const watch = setInterval(() => {
      if (held() >= limit) collect() // what nobody holds any more does not count
      most = Math.max(most, held())
    }, 200)
    onTestFinished(() => clearInterval(watch))
    const bodies = Array.from({ length: 200 }, () => begin(port, '/taken', 4 * MIB))
    for (const { socket } of bodies)
      for (let sent = 0; sent < 4; sent += 1) socket.write(sent < 3 ? chunk : chunk.subarray(1))
    await Promise.race(bodies.map(({ socket }) => once(socket, 'data'))) // one of them is too much
    const large = `{"x":"${'x'.repeat(4 * MIB - 8)}"}`
    const send = async (body: string, more = '') => {
      const { socket, closed } = begin(port, '/taken', body.length, `connection: close\r\n${more}`)
      socket.write(body)
      return (await closed).slice(9, 12)
    }
    expect(await Promise.all([send(large, 'x-holder: other\r\n'), send(`{"x":"${'x'.repeat(16_000)}"}`)])).toEqual([
      '200',
      '200',
    ])
    const answers = await Promise.all(bodies.map(({ closed }) => closed))
    clearInterval(watch)
    const statuses = answers.map((said) => said.slice(9, 12))
    expect(new Set(statuses).has('408')).toBe(true)
    // Requests beyond the limit are refused at once.
    const refused = answers.filter((said) => said.startsWith('HTTP/1.1 503'))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.filter((said) => !/retry-after: 2/i.test(said))).toEqual([])
    expect(most).toBeLessThan(limit)
    // All of it was given back.
    expect(await send(large)).toBe('200')
  },
)

verifies('contract-26.shares', 'what is announced counts for nothing, and small bodies for nobody', async () => {
  const port = await start({ freeMs: 60_000 })
  const bodies = Array.from({ length: 2000 }, () => begin(port, '/taken', 4 * MIB))
  const halves = await Promise.all(
    bodies.map(async ({ socket }) => await new Promise((resolve) => socket.write('{"x":"', resolve))),
  )
  expect(halves.length).toBe(2000)
  const { socket, closed } = begin(port, '/taken', 4 * MIB, 'connection: close\r\n')
  socket.write(`{"x":"${'x'.repeat(4 * MIB - 8)}"}`)
  expect(await closed).toMatch(/^HTTP\/1.1 200 /)
  for (const one of bodies) one.socket.destroy()
})
