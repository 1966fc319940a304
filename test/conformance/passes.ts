/** Runs the suite against Greenroom, and expects that it passes all. */
import { expect } from 'vitest'
import { greenroom } from '../../packages/conformance/src/adapters/greenroom.ts'
import { checksOf } from '../../packages/conformance/src/checks/index.ts'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import type { Adapter, Level, ServerControl } from '../../packages/conformance/src/types.ts'

interface Tested {
  url: string
  url2?: string
  level: Level
  server: ServerControl
  /** Greenroom's own by default. */
  adapter?: Adapter
  /** Returns the URL that the adapter is given. */
  urlFor?: (agent: string) => string
}

/** Long, since the machine may be busy: no rule is about the time. */
const TIMEOUT_MS = 120_000

export async function expectPasses({ url, url2, level, server, adapter = greenroom, urlFor = () => url }: Tested) {
  const model = await startModel(0)
  try {
    const agent = await greenroom.configure?.({ url, modelUrl: model.url, agent: null, key: null, login: null })
    if (typeof agent !== 'string') throw new Error('Greenroom was not set up.')
    const outcomes = await runSuite({
      ...{ adapter, model, url: urlFor(agent), url2: url2 ?? null, agent, key: null, level, server },
      ...{ only: null, timeoutMs: TIMEOUT_MS, signal: new AbortController().signal },
    })
    expect(outcomes.filter(({ result }) => result === 'fail' || result === 'error')).toEqual([])
    const offered = ({ needs }: { needs: readonly string[] }) =>
      needs.every((need) =>
        need === 'followEnded' ? adapter.followsEnded !== false : adapter.offers.some((one) => one === need),
      )
    const passed = outcomes.filter(({ result }) => result === 'pass').map(({ id }) => id)
    expect(passed).toEqual(
      checksOf(level, null)
        .filter(offered)
        .map(({ id }) => id),
    )
  } finally {
    await model.close()
  }
}
