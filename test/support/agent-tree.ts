/** An agent that asks billing, which asks ledger, and what their models say. */
import type { TestApp } from './app.ts'
import type { Script, Upstream, UpstreamCall } from './network/upstream.ts'

/** Has the agent ask billing. Models are known by the names of their agents. */
export async function createAgentTree({ client }: TestApp, agentId: string) {
  const agent = await client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  const providerId = agent.data?.providerId
  if (providerId == null) throw new Error('The agent has no provider.')
  const asks = (id: string, asked: string) =>
    client.PUT('/api/v1/agents/{agent_id}/tools', {
      params: { path: { agent_id: id } },
      body: { agentTools: [{ agentId: asked }] },
    })
  const create = async (name: string): Promise<string> => {
    const { data } = await client.POST('/api/v1/agents', { body: { name, providerId, model: name } })
    if (data === undefined) throw new Error(`${name} was not created.`)
    return data.id
  }
  const ledger = await create('ledger')
  const billing = await create('billing')
  await asks(billing, ledger)
  await asks(agentId, billing)
  return { billing, ledger }
}

/** Asks that agent, and says these words once it has answered. */
const asksFirst = (name: string, words: string) => async (call: UpstreamCall) => {
  const isAnswered = call.body.messages.at(-1).role === 'tool'
  if (isAnswered) await call.text(words)
  else await call.toolCall({ id: `of ${name}`, name, arguments: '{"message":"What does Ann owe?"}' })
  await call.finish(isAnswered ? 'stop' : 'tool_calls')
}

/** Has each ask the next from now on. Resolves to the call of ledger's model, which the test answers. */
export function asking(up: Upstream): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  const scripts = new Map<string, Script>([
    ['ledger', resolve],
    ['billing', asksFirst('ledger', 'Ann owes 12 euros.')],
  ])
  const top = asksFirst('billing', 'Twelve.')
  up.always((call) => (scripts.get(call.body.model) ?? top)(call))
  return promise
}
