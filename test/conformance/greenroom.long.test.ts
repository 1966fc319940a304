/**
 * Greenroom passes level `durable` with its own database, level `cluster` with two instances, and the other protocols that it
 * speaks (contract section 34).
 */
import { agUi } from '../../packages/conformance/src/adapters/ag-ui.ts'
import { aiSdk } from '../../packages/conformance/src/adapters/ai-sdk.ts'
import { responses } from '../../packages/conformance/src/adapters/responses.ts'
import { startCluster } from '../support/programs/cluster.ts'
import { oneInstance, passes } from './passes.ts'

passes('one instance', { level: 'durable', start: oneInstance })

for (const redis of [false, true]) {
  passes(`two instances, Redis: ${redis}`, {
    level: 'cluster',
    async start(stack) {
      const cluster = stack.use(await startCluster({ instances: 2, redis }))
      const [url = '', url2 = ''] = cluster.urls
      const server = { kill: () => cluster.kill9(0), start: async () => void (await cluster.restart(0)) }
      return { url, url2, server }
    },
  })
}

for (const [adapter, path] of [
  [responses, ''],
  [aiSdk, '/ai-sdk'],
  [agUi, '/ag-ui'],
] as const)
  passes(`the adapter ${adapter.name}`, { level: 'durable', start: oneInstance, wire: { adapter, path } })
