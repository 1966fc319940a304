/** Two instances, of which one stops, drains or dies while an agent's reply runs there. */
import { expect } from 'vitest'
import { openToolFaults, type ToolFaults } from '../../faults/tool-faults.ts'
import type { Product } from '../../support/programs/product.ts'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { completions, LEASE_MS, say } from '../scene.ts'

export interface Pair extends ToolFaults {
  first: Product
  second: Product
}

export type OnLoss = 'error' | 'continue'

/** The agent's `onLoss` as given. */
export async function openPair(
  onLoss: OnLoss,
  options: Partial<Parameters<typeof openToolFaults>[0]> = {},
): Promise<Pair> {
  const opened = await openToolFaults({ leaseMs: LEASE_MS, ...options })
  try {
    const first = await opened.start('direct')
    const second = await opened.start('direct')
    await setOnLoss(first, opened.agentId(), onLoss)
    return { ...opened, first, second }
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw error
  }
}

export async function setOnLoss({ client }: Product, agentId: string, onLoss: OnLoss): Promise<void> {
  const { error } = await client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body: { onLoss } })
  expect(error).toBeUndefined()
}

/** Asks the first instance, and resolves to the stream. */
export async function ask({ first }: Pick<Pair, 'first'>, session: string, fields: object = {}): Promise<SseStream> {
  return await openSse(completions(first.url, session), { ...say('Buy!'), ...fields })
}
