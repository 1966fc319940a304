/** METRICS_PORT with WORKERS: one page for all processes (contract section 1). */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { addAgent, newSession, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const hello = { messages: [{ role: 'user', content: 'hello' }], stream: true }

verifies(['contract-1.metrics', 'contract-17.workers'], 'one port serves the sums of all workers', async () => {
  await using up = await startUpstream()
  const database = await freshDatabase({ empty: true })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => database.drop())
  const env = { DATABASE_URL: database.url, SECRET_KEY: 'the-same-for-all', WORKERS: '2', OWNER_LEASE_MS: '6000' }
  await using product = await startProduct({ direct: true, env: { ...env, METRICS_PORT: '0', LOG_LEVEL: 'fatal' } })
  const [, page = ''] = /^Metrics: (\S+)$/m.exec(product.stderr.join('\n')) ?? []
  const leases = async () =>
    Number(/^greenroom_lease_renewals_total\{ok="true"\} (\d+)$/m.exec(await (await fetch(page)).text())?.[1] ?? 0)
  await expect.poll(leases).toBeGreaterThan(4)
  up.always(async (call) => {
    await call.text('x')
    await call.finish()
  })
  const agent = await addAgent(product, up.url)
  for (let n = 0; n < 12; n++) {
    const stream = await openSse(`${product.url}${await newSession(product.url, agent)}/chat/completions`, hello)
    await stream.rest()
  }
  const replies = async () =>
    Number(
      /^greenroom_replies_total\{kind="session",outcome="stop"\} (\d+)$/m.exec(await (await fetch(page)).text())?.[1] ??
        0,
    )
  await expect.poll(replies).toBe(12)

  // One is suspended, then killed; another replaces it.
  const children = await readFile(`/proc/${product.pid}/task/${product.pid}/children`, 'utf8')
  const worker = Number(children.trim().split(' ')[0])
  process.kill(worker, 'SIGSTOP')
  expect(await replies()).toBe(12)
  process.kill(worker, 'SIGKILL')
  const lost = async () => {
    expect(await replies()).toBe(12)
    return Number(/^greenroom_instances_lost_total (\d+)$/m.exec(await (await fetch(page)).text())?.[1])
  }
  await expect.poll(lost).toBe(1)
  expect(await product.stop()).toEqual({ code: 0, signal: null })
})
