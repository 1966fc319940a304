/** Contract sections 8 and 19: an import saves no agent that its provider could not answer for. */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'

const scene = await openScene({ settings: {} })
afterAll(() => scene.close())

verifies('contract-19.agent-fields', 'what an import leaves out is judged as it is stored', async () => {
  const provider = (name: string, providerType: string) =>
    scene.call('POST', '/api/v1/settings/providers', { name, providerType, apiKey: 'k' })
  const { id: providerId } = (await provider('Thinks', 'openai')).json
  await provider('Does not', 'mistral')
  const agent = { name: 'Moves', providerId, model: 'm', generationConfig: { reasoningEffort: 'low' } }
  const { id } = (await scene.call('POST', '/api/v1/agents', agent)).json
  const moved = { name: 'Moves', provider: 'Does not', model: 'm' }
  const take = async (agents: object[]) => (await scene.call('POST', '/api/v1/import', { version: 1, agents })).json
  expect(await take([moved])).toEqual({
    created: 0,
    updated: 0,
    skipped: [{ kind: 'agent', name: 'Moves', reason: expect.stringMatching(/^generationConfig\.reasoningEffort: /) }],
  })
  expect((await scene.call('GET', `/api/v1/agents/${id}`)).json.providerId).toBe(providerId)
  expect(await take([{ ...moved, generationConfig: {} }])).toEqual({ created: 0, updated: 1, skipped: [] })
})
