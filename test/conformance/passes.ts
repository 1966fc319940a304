/** Runs the suite against Greenroom: each check that an adapter offers is a test, named by its sentence. */
import { beforeAll, describe, expect } from 'vitest'
import { greenroom } from '../../packages/conformance/src/adapters/greenroom.ts'
import { checksOf } from '../../packages/conformance/src/checks/index.ts'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import type { Adapter, Level, Need, Outcome, ServerControl } from '../../packages/conformance/src/types.ts'
import { freePort } from '../support/programs/free-port.ts'
import { dataFolder, type Product, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { sentences } from './sentences.ts'

interface Tested {
  url: string
  url2?: string
  server: ServerControl
}

interface Run {
  level: Level
  /** Starts the instances; what it gives to the stack ends with the run. */
  start(stack: AsyncDisposableStack): Promise<Tested>
  /** An adapter of another protocol, and what its URL has behind that of an agent. Greenroom's own by default. */
  wire?: { adapter: Adapter; path: string }
}

/** Long, since the machine may be busy: no rule is about the time. */
const CHECK_MS = 120_000
const RUN_MS = 600_000

const offers = ({ offers, followsEnded }: Adapter, need: Need): boolean =>
  need === 'followEnded' ? followsEnded !== false : offers.includes(need)

export function passes(name: string, { level, start, wire }: Run): void {
  const adapter = wire?.adapter ?? greenroom
  const rule = wire === undefined ? 'contract-34.greenroom' : 'contract-34.adapters'
  describe(name, () => {
    let outcomes: Outcome[] = []

    beforeAll(async () => {
      await using stack = new AsyncDisposableStack()
      const model = await startModel(0)
      stack.defer(() => model.close())
      const { url, url2 = null, server } = await start(stack)
      const agent = await greenroom.configure?.({ url, modelUrl: model.url, agent: null, key: null, login: null })
      if (typeof agent !== 'string') throw new Error('Greenroom was not set up.')
      outcomes = await runSuite({
        ...{ adapter, model, url: wire === undefined ? url : `${url}/api/v1/agents/${agent}/deploy${wire.path}` },
        ...{ url2, agent, key: null, level, server, only: null },
        ...{ timeoutMs: CHECK_MS, signal: new AbortController().signal },
      })
    }, RUN_MS)

    for (const check of checksOf(level, null)) {
      if (!check.needs.every((need) => offers(adapter, need))) continue
      const rules = wire === undefined ? ([rule, ...sentences[check.id]] as const) : ([rule] as const)
      verifies(rules, `${check.id}: ${check.rule}`, () => {
        const { result, message } = outcomes.find(({ id }) => id === check.id) ?? {}
        expect([result, message]).toEqual(['pass', null])
      })
    }
  })
}

/** Starts one instance with its own database, which is killed with `kill -9` and started again. */
export async function oneInstance(stack: AsyncDisposableStack): Promise<Tested> {
  const folder = stack.use(await dataFolder())
  const PORT = String(await freePort())
  let product: Product | null = null
  const start = async () => {
    product = await startProduct({ dataDir: folder.path, env: { PORT } })
    return product
  }
  stack.defer(async () => product?.[Symbol.asyncDispose]())
  const { url } = await start()
  return { url, server: { kill: async () => product?.kill9(), start: async () => void (await start()) } }
}
