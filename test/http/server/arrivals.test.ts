/** Connections that arrive while the server is busy wait for their turn (contract section 26). */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'

/** The system completes no more than this for a server that does not accept them. */
const systemLimit = async () => Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8').catch(() => '128'))

/** Opens `count` connections at once, counts in `connected`, and says how many got their answer. */
const clients = `
  const { connect } = require('node:net')
  const { parentPort, workerData: { port, count, connected } } = require('node:worker_threads')
  const request = 'GET /livez HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\nconnection: close\\r\\n\\r\\n'
  let answered = 0
  let ended = 0
  for (let n = 0; n < count; n++) {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => {
      Atomics.add(connected, 0, 1)
      Atomics.notify(connected, 0)
      socket.write(request)
    })
    socket.on('error', () => {}).on('data', (bytes) => (answer += bytes)).on('close', () => {
      if (answer.startsWith('HTTP/1.1 200')) answered += 1
      if (++ended === count) parentPort.postMessage(answered)
    })
  }
`

/** The event loop stands still until all are connected. More than any machine needs for that, it does not wait. */
function standStill(connected: Int32Array, count: number): void {
  for (let now = 0; now < count; now = Atomics.load(connected, 0)) {
    if (Atomics.wait(connected, 0, now, 20_000) === 'timed-out') return
  }
}

verifies(
  'contract-26.turns',
  '2,000 connections that arrive while the event loop stands still are all answered',
  async () => {
    await using app = await sharedApp()
    const count = Math.min(2000, await systemLimit())
    const connected = new Int32Array(new SharedArrayBuffer(4))
    const workerData = { port: new URL(app.url).port, count, connected }
    const worker = new Worker(clients, { eval: true, execArgv: [], workerData })
    await once(worker, 'online')
    standStill(connected, count)
    expect(Atomics.load(connected, 0)).toBe(count)
    const [answered] = await once(worker, 'message')
    expect(answered).toBe(count)
    await worker.terminate()
  },
  { timeout: 120_000 },
)
