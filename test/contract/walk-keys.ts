/** Walks the endpoints of named keys, and of what keys and users have used of their limits. */
import type { Walk } from './walk-responses.ts'

const nobody = '00000000-0000-4000-8000-0000000000ff'

export async function walkKeys(walk: Walk, agentId: string): Promise<void> {
  const key = await walk('post', '/api/v1/keys', {}, { name: 'K', scopes: ['deploy'] })
  await walk('post', '/api/v1/keys', {}, { name: 'K' })
  await walk('get', '/api/v1/keys', {})
  for (const id of [key.id, nobody]) {
    await walk('get', '/api/v1/keys/{id}/use', { id })
    for (const method of ['get', 'put', 'delete'])
      await walk(method, '/api/v1/keys/{id}', { id }, method === 'put' ? { name: 'L' } : undefined)
  }
  for (const id of [agentId, nobody]) await walk('get', '/api/v1/agents/{id}/users/use', { id })
}
