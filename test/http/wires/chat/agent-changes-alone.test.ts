/** On the embedded database no other process changes the configuration: agents are remembered without asking. */
import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startApp } from '../../../../src/compose/app.ts'
import { createAgentLookup } from '../../../../src/persistence/records/agent-lookup.ts'
import { readSettings } from '../../../../src/settings.ts'
import { createAgent, endSharedApps } from '../../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { startUpstream } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'
import { call } from '../../scene.ts'

beforeAll(endSharedApps)

verifies('contract-2.changes', 'embedded: each change of an agent shows in the next reply', async () => {
  await using stack = new AsyncDisposableStack()
  const dataDir = await temporaryFolder('alone')
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const up = stack.use(await startUpstream())
  up.always(async (asked) => {
    const { model, messages, tools } = asked.body
    await asked.text(`${model} ${messages[0].content} ${tools?.length ?? 0}`)
    await asked.finish()
  })
  const app = await startApp(
    readSettings({
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'fatal',
      PROVIDER_RETRIES: '0',
      DRAIN_TIMEOUT_S: '1',
      SEED_DEMO: 'off',
    }),
  )
  stack.defer(() => app.stop())
  const api = (path: string, method: string, body?: object) => call(`${app.url}/api/v1${path}`, method, body)
  const made = async (path: string, body: object) => {
    const { status, json } = await api(path, 'POST', body)
    expect([path, status]).toEqual([path, 201])
    return json
  }
  const provider = await made('/settings/providers', {
    name: 'up',
    providerType: 'openai-compatible',
    baseUrl: up.url,
  })
  const prompt = await made('/prompts', { name: 'p', content: 'old' })
  const agent = await made('/agents', { name: 'a', providerId: provider.id, promptId: prompt.id, model: 'm' })
  const path = `/agents/${agent.id}`
  const ask = async () => {
    const asked = { messages: [{ role: 'user', content: 'go' }] }
    const { status, json } = await api(`${path}/deploy/chat/completions`, 'POST', asked)
    return status === 200 ? json.choices[0].message.content : status
  }
  for (let n = 0; n < 10; n++) {
    await api(path, 'PUT', { model: `m${n}` })
    expect(await ask()).toBe(`m${n} ${n === 0 ? 'old' : `prompt ${n - 1}`} 0`)
    await api(`/prompts/${prompt.id}`, 'PUT', { content: `prompt ${n}` })
    expect(await ask()).toBe(`m${n} prompt ${n} 0`)
  }
  const { builtInTools } = (await api('/built-in-tools', 'GET')).json
  const [tool] = builtInTools
  await api(`${path}/tools`, 'PUT', { builtInToolIds: [tool.id] })
  const withTool = await ask()
  await api(`/settings/providers/${provider.id}`, 'PUT', { baseUrl: 'http://127.0.0.1:9/v1' })
  expect([withTool, await ask()]).toEqual(['m9 prompt 9 1', 500])
  expect((await api(path, 'DELETE')).status).toBe(204)
  expect(await ask()).toBe(404)
})

describe('the lookup', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase({ version: 18 })
  })
  afterAll(() => database?.drop())
  afterEach(() => void vi.useRealTimers())
  const rename = (id: string) => database.sql`update agents set name = name || '!' where id = ${id}`

  test('who is alone is told of changes, and finds those by hand within a second or two', async () => {
    const { agentId } = await createAgent(database)
    vi.useFakeTimers({ toFake: ['performance'] })
    const lookup = createAgentLookup(database.sql, { alone: true })
    await lookup.find(agentId)
    vi.advanceTimersByTime(1001)
    await lookup.find(agentId) // looks behind it
    await rename(agentId)
    expect(await lookup.find(agentId)).toMatchObject({ name: 'Agent' })
    lookup.forget()
    expect(await lookup.find(agentId)).toMatchObject({ name: 'Agent!' })
    await rename(agentId)
    vi.advanceTimersByTime(1001)
    await expect.poll(() => lookup.find(agentId)).toMatchObject({ name: 'Agent!!' })
  })

  test('what was read while the configuration changed is not remembered', async () => {
    const { agentId } = await createAgent(database)
    const lookup = createAgentLookup(database.sql, { alone: true })
    const read = lookup.find(agentId)
    lookup.forget()
    expect(await read).toMatchObject({ name: 'Agent' })
    await rename(agentId)
    expect(await lookup.find(agentId)).toMatchObject({ name: 'Agent!' })
  })
})
