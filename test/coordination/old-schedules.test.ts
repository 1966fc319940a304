/** What older versions have left in Redis (contract section 7). */
import { randomUUID } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect } from 'vitest'
import { createBullmqJobs } from '../../src/coordination/jobs/bullmq-jobs.ts'
import { startRedis } from '../support/programs/redis.ts'
import { WAIT_MS } from '../support/wait.ts'
import { verifies } from '../verifies.ts'

verifies('contract-7.jobs', 'the schedule of a job that there is no more is taken away', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await startRedis())
  const installation = randomUUID()
  const queue = new Queue('jobs', {
    connection: { url },
    prefix: `{greenroom:${installation}}`,
    skipVersionCheck: true,
  })
  stack.defer(() => queue.close())
  await queue.upsertJobScheduler('webhooks', { every: 60_000 }, { name: 'webhooks' })
  const log = { info() {}, warn() {} }
  const job = { name: 'tidy', everyMs: 3_600_000, async run() {} }
  const jobs = createBullmqJobs({ cacheUrl: url, installation, jobs: [job], log })
  stack.defer(() => jobs.stop())
  const names = async () => (await queue.getJobSchedulers()).map(({ name }) => name)
  await expect.poll(names, { timeout: WAIT_MS, interval: 20 }).toEqual(['tidy'])
})
