/** `POST /api/v1/import?draft=true`: a pipeline proposes, a person publishes. */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openVersionScene, type VersionScene } from '../version-scene.ts'

let scene: VersionScene
beforeAll(async () => {
  scene = await openVersionScene()
})
afterAll(() => scene.close())

verifies('contract-28.proposed', 'drafts change, new texts of prompts included, and nothing else', async () => {
  const agent = await scene.newAgent()
  await agent.put({ name: 'Proposed' })
  const { promptId, ...before } = await agent.get()
  const { json } = await scene.ask('GET', '/api/v1/export')
  const given = json.agents.find(({ name }: { name: string }) => name === 'Proposed')
  const body = {
    version: 1,
    prompts: [
      { name: given.prompt, content: 'You are proposed.' },
      { name: 'Brand new', content: 'x' },
    ],
    agents: [{ ...given, model: 'proposed' }],
    agentTools: [{ agent: 'Proposed', builtInTools: ['web_fetch'] }],
  }
  const imported = await scene.ask('POST', '/api/v1/import?draft=true', body)
  expect(imported.json).toEqual({ created: 0, updated: 1, skipped: [] })
  expect(await agent.get()).toEqual({ ...before, promptId, hasDraft: true })
  expect(await agent.get('?draft=true')).toMatchObject({
    ...{ model: 'proposed', promptId: null, systemPrompt: 'You are proposed.' },
  })
  expect((await agent.getTools('?draft=true')).builtInToolIds).toEqual(['web_fetch'])
  expect((await scene.ask('GET', `/api/v1/prompts/${promptId}`)).json.content).toBe('You are v1.')
  expect((await scene.ask('GET', '/api/v1/prompts?q=Brand')).json.total).toBe(0)
  expect((await agent.versions()).length).toBe(1)
})
