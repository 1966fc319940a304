/**
 * The suite finds each fault by the check that is named for it, and by none that has nothing to do with it (contract
 * section 34).
 */
import { afterAll, describe, expect } from 'vitest'
import { responses } from '../../packages/conformance/src/adapters/responses.ts'
import { checksOf } from '../../packages/conformance/src/checks/index.ts'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import { verifies } from '../verifies.ts'
import { type Fault, faults, startSmallServer } from './small-server.ts'

const model = await startModel(0)
afterAll(() => model.close())

async function failedWith(fault: Fault | null) {
  const server = await startSmallServer(model.url, fault)
  try {
    const outcomes = await runSuite({
      ...{ adapter: responses, model, url: server.url, url2: null, agent: null, key: null },
      ...{
        level: 'durable',
        only: null,
        timeoutMs: 30_000, // also of the checks that wait until it is over: the machine may be busy
        server,
        signal: new AbortController().signal,
      },
    })
    expect(outcomes).toHaveLength(checksOf('durable', null).length)
    return outcomes.filter(({ result }) => result !== 'pass')
  } finally {
    await server.kill()
  }
}

/** The check that is named for a fault comes first; the others have to do with it. */
const found: Record<Fault, string[]> = {
  'show-before-store': ['durable.shown-is-stored'],
  'resume-by-time': ['resume.every-position', 'resume.two-readers'],
  'double-at-reconnect': ['resume.every-position'],
  'cancel-closes-only': ['cancel.other-connection'],
  'two-ends': ['stream.one-end'],
  'key-ignored': ['retry.joins', 'retry.other-body', 'durable.retry-after-kill'],
  'stays-running': ['durable.settles', 'durable.takes-messages'],
  'takes-back': ['stream.failing-model', 'durable.shown-is-stored'],
  'loses-last': ['resume.after-end'],
  'splits-characters': ['stream.unicode-split'],
  'busy-drops': ['busy.nothing-lost'],
}

describe.concurrent('a small server', () => {
  verifies('contract-34.finds', 'without a fault passes all', async () => {
    expect(await failedWith(null)).toEqual([])
  })
  for (const fault of faults) {
    const checks = found[fault]
    verifies('contract-34.finds', `with ${fault} fails ${checks[0]}`, async () => {
      const failed = await failedWith(fault)
      expect(failed.map(({ id, result, message }) => [id, result, message])).toEqual(
        checksOf('durable', null)
          .filter(({ id }) => checks.includes(id))
          .map(({ id }) => [id, 'fail', expect.stringMatching(/^[^\n]{20,400}\.$/)]),
      )
    })
  }
})
