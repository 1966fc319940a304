/** Random trees of agents that ask agents, and the model that grows them. */
import { setTimeout as delay } from 'node:timers/promises'
import { asks, says } from '../http/tool-scene.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession, type Product, postJson } from '../support/programs/product.ts'

const names = ['desk', 'billing', 'ledger', 'archive']
/** Longest time of one answer of a model (milliseconds). */
const STEP_MS = 400

/** A session's part of a tree: what it asks its children, and the name by which it answers. */
interface Part {
  name: string
  below: Part[]
  /** Whether it also makes a call that somebody approves. */
  asks: boolean
}

function randomTree(random: () => number, name: string, depth: number): Part {
  const most = depth === 1 ? 8 : 3
  const width = depth > 3 || random() < 0.3 ? 0 : 1 + Math.floor(random() * most)
  const asks = random() < 0.25
  return { name, asks, below: Array.from({ length: width }, (_, n) => randomTree(random, `${name}.${n}`, depth + 1)) }
}

const partIn = (text: string): Part => JSON.parse(text)

/** A model that asks what its message has below it, then answers by its name. */
export const answering = (random: () => number) => async (call: UpstreamCall) => {
  const { messages, model } = call.body
  const asked = messages.findLast(({ role }: { role: string }) => role === 'user')
  // An answer that was cut off is gone on with (contract section 21).
  if (!asked.content.startsWith('{')) return await says('.')(call)
  const part = partIn(asked.content)
  await Promise.race([delay(random() * STEP_MS), call.closed])
  if (call.abandoned) return
  const isTold = messages.at(-1)?.role === 'tool'
  if (isTold || (part.below.length === 0 && !part.asks)) return await says(`answer of ${part.name}`)(call)
  const next = names[names.indexOf(model) + 1] ?? ''
  const calls = part.below.map((below) => ({
    name: next,
    arguments: JSON.stringify({ message: JSON.stringify(below) }),
  }))
  await asks('', ...calls, ...(part.asks ? [{ name: 'current_time', arguments: '{}' }] : []))(call)
}

/** Agents that ask each other in this order; those of even places go on elsewhere. Resolves to the first one's id. */
export async function addAgents({ client }: Product, known: string): Promise<string> {
  const { data } = await client.GET('/api/v1/agents/{id}', { params: { path: { id: known } } })
  let below: string | null = null
  for (const [n, name] of [...names.entries()].reverse()) {
    const onLoss = n % 2 === 0 ? 'continue' : 'error'
    const made = await client.POST('/api/v1/agents', {
      body: { name, model: name, providerId: data?.providerId ?? '', onLoss, generationConfig: { maxToolCalls: 50 } },
    })
    const id = made.data?.id ?? ''
    const params = { path: { agent_id: id } }
    const agentTools = below === null ? [] : [{ agentId: below }]
    const body = { agentTools, builtInToolIds: ['current_time'], approvals: ['current_time'] }
    await client.PUT('/api/v1/agents/{agent_id}/tools', { params, body })
    below = id
  }
  return below ?? ''
}

export interface Tree {
  session: string
  end: 'whole' | 'cancelled' | 'deleted'
}

/** Starts a tree at an instance, which may be gone by then, and cancels or deletes one in five. */
export async function plant(url: string, agent: string, random: () => number, n: number): Promise<Tree | null> {
  const session = await newSession(url, agent).catch(() => null)
  if (session === null) return null
  const content = JSON.stringify(randomTree(random, `${n}`, 1))
  const body = { messages: [{ role: 'user', content }] }
  const [chance, wait] = [random(), random() * 2 * STEP_MS]
  void postJson(`${url}${session}/chat/completions`, body).catch(() => {})
  if (chance > 0.2) return { session, end: 'whole' }
  await delay(wait)
  if (chance > 0.1) await postJson(`${url}${session}/chat/completions/cancel`, {}).catch(() => {})
  else await fetch(`${url}${session}`, { method: 'DELETE' }).catch(() => {})
  return { session, end: chance > 0.1 ? 'cancelled' : 'deleted' }
}
