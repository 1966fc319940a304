/** A shop that counts purchases, an agent that buys there, and a proxy to PostgreSQL that can fail. */
import { createClient } from '../../openapi/client.ts'
import { asks, says, startToolServer, type ToolRequest } from '../http/tool-scene.ts'
import { freshDatabase } from '../support/database.ts'
import { startUpstream, type UpstreamCall } from '../support/network/upstream.ts'
import { addAgent, type Product, startProduct } from '../support/programs/product.ts'
import { openProxy } from './database/database-proxy.ts'

export const buys = asks('One moment. ', { name: 'buy', arguments: '{"what":"tea"}', id: 'the-call' })

/** Buys once; it ends with the result of that call, even an unknown one. */
async function buysOnce(call: UpstreamCall): Promise<void> {
  await (call.body.messages.some(({ role }: { role: string }) => role === 'tool') ? says('Bought.') : buys)(call)
}

export interface ToolFaults extends AsyncDisposable {
  database: Awaited<ReturnType<typeof freshDatabase>>
  proxy: Awaited<ReturnType<typeof openProxy>>
  up: Awaited<ReturnType<typeof startUpstream>>
  shop: Awaited<ReturnType<typeof startToolServer>>
  /** Id of the agent that may buy there. */
  agentId(): string
  /** The product as a process, its database behind the proxy or reached directly. */
  start(way?: 'proxy' | 'direct'): Promise<Product>
}

interface ToolFaultsOptions {
  leaseMs: number
  /** The shop's handler; it sells by default. */
  answer?: (call: ToolRequest) => string | Promise<string>
  /** Additional settings. */
  env?: Record<string, string>
}

export async function openToolFaults({
  leaseMs,
  answer = () => 'sold',
  env: more,
}: ToolFaultsOptions): Promise<ToolFaults> {
  await using stack = new AsyncDisposableStack()
  const database = await freshDatabase()
  stack.defer(() => database.drop())
  const proxy = stack.use(await openProxy(database.url))
  const up = stack.use(await startUpstream())
  const shop = stack.use(await startToolServer(answer))
  up.always(buysOnce)
  const products: Product[] = []
  stack.defer(async () => {
    proxy.restore()
    for (const product of products) await product[Symbol.asyncDispose]()
  })
  let agent: string | null = null
  const kept = stack.move()
  return {
    database,
    proxy,
    up,
    shop,
    agentId: () => agent ?? '',
    async start(way = 'proxy') {
      const url = way === 'proxy' ? proxy.url : database.url
      const env = {
        DATABASE_URL: url,
        SECRET_KEY: 'a-key-for-tests',
        OWNER_LEASE_MS: `${leaseMs}`,
        PROVIDER_RETRIES: '0',
        ...more,
      }
      const product = await startProduct({ direct: true, env })
      products.push(product)
      agent ??= await buyer(product, up.url, shop.url)
      return product
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** An agent with one tool, created through the management API. */
async function buyer(product: Product, upstream: string, shop: string): Promise<string> {
  const { client } = product
  const agentId = await addAgent(product, upstream)
  const tool = await client.POST('/api/v1/http-tools', {
    body: { name: 'buy', description: 'Buys.', method: 'POST', url: shop },
  })
  const { error } = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [tool.data?.id ?? ''] },
  })
  if (tool.error || error) throw new Error(JSON.stringify([tool.error, error]))
  return agentId
}

/** The assistant's messages of a session (given by its deploy path), as in the playground. */
export async function repliesOf(url: string, session: string) {
  const [, agentId = '', sessionId = ''] = /agents\/([^/]+)\/deploy\/sessions\/([^/]+)/.exec(session) ?? []
  const { data, error } = await createClient(url).GET(
    '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages',
    { params: { path: { agent_id: agentId, session_id: sessionId } } },
  )
  if (!data) throw new Error(JSON.stringify(error))
  return data.messages.filter(({ role }) => role === 'assistant')
}
