/** Greenroom passes level `cluster` with two instances, and the other protocols that it speaks (contract section 34). */
import { describe } from 'vitest'
import { agUi } from '../../packages/conformance/src/adapters/ag-ui.ts'
import { aiSdk } from '../../packages/conformance/src/adapters/ai-sdk.ts'
import { responses } from '../../packages/conformance/src/adapters/responses.ts'
import { startCluster } from '../support/programs/cluster.ts'
import { startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { expectPasses } from './passes.ts'

const LONG = { timeout: 600_000 }

describe.each([{ redis: false }, { redis: true }])('two instances, Redis: $redis', ({ redis }) => {
  verifies(
    'contract-34.greenroom',
    'pass level cluster',
    async () => {
      await using cluster = await startCluster({ instances: 2, redis })
      const [url = '', url2 = ''] = cluster.urls
      const server = {
        kill: () => cluster.kill9(0),
        start: async () => void (await cluster.restart(0)),
      }
      await expectPasses({ url, url2, level: 'cluster', server })
    },
    LONG,
  )
})

verifies(
  'contract-34.adapters',
  'the wires of Responses, the AI SDK and AG-UI pass what their protocols offer',
  async () => {
    await using product = await startProduct({ direct: true })
    const { url } = product
    const server = { kill: async () => {}, start: async () => {} }
    const wires = [
      [responses, ''],
      [aiSdk, '/ai-sdk'],
      [agUi, '/ag-ui'],
    ] as const
    for (const [adapter, path] of wires) {
      const urlFor = (agent: string) => `${url}/api/v1/agents/${agent}/deploy${path}`
      await expectPasses({ url, level: 'resume', server, adapter, urlFor })
    }
  },
  LONG,
)
