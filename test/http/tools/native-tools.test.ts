/** Agents on native providers that act, end to end: official SDKs, a tool over HTTP, what the next turn is told. */
import { expect, onTestFinished } from 'vitest'
import * as anthropic from '../../providers/native/anthropic-server.ts'
import * as gemini from '../../providers/native/gemini-server.ts'
import { createAgent, sharedApp } from '../../support/app.ts'
import { contentOf, openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { call } from '../scene.ts'
import { startToolServer } from '../tool-scene.ts'

async function open(vendor: 'anthropic' | 'gemini', model: string) {
  const app = await sharedApp()
  const up = vendor === 'anthropic' ? await anthropic.startAnthropic() : await gemini.startGemini()
  const tools = await startToolServer(({ url }) => `found ${url.searchParams.get('q')}`)
  onTestFinished(async () => {
    await tools[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
    await up.close()
  })
  const { agentId, providerId } = await createAgent(app, { type: vendor, baseUrl: up.base, system: 'Be brief.' })
  await app.sql`update agents set model = ${model} where id = ${agentId}`
  const provider = `${app.url}/api/v1/settings/providers/${providerId}`
  expect((await call(provider, 'PUT', { apiKey: 'sk-native-1234567890' })).status).toBe(200)
  const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
  const tool = { name: 'look', description: 'Looks.', method: 'GET', url: tools.url, inputSchema }
  const { id } = (await call(`${app.url}/api/v1/http-tools`, 'POST', tool)).json
  const agent = `${app.url}/api/v1/agents/${agentId}`
  await call(`${agent}/tools`, 'PUT', { httpToolIds: [id], mcpServers: [], builtInToolIds: [] })
  const session = (await call(`${agent}/deploy/sessions`, 'POST', {})).json.id
  const say = async (content: string) => {
    const body = { messages: [{ role: 'user', content }], stream: true, stream_options: { include_usage: true } }
    return (await openSse(`${agent}/deploy/sessions/${session}/chat/completions`, body)).rest()
  }
  return {
    up,
    say,
    chooseNoTools: () => call(`${agent}/tools`, 'PUT', { httpToolIds: [], mcpServers: [], builtInToolIds: [] }),
  }
}

verifies('contract-6.loop', 'an agent on Anthropic calls its tool and is told the result', async () => {
  const { up, say, chooseNoTools } = await open('anthropic', 'claude-opus-5-5')
  up.next(
    anthropic.tells({
      thinking: 'Hm.',
      text: ['Let me look. '],
      calls: [{ id: 'toolu_1', name: 'look', input: { q: 'it' } }],
    }),
  )
  up.next(anthropic.tells({ text: ['Found', ' it.'] }))
  const { frames } = await say('Look!')
  expect(contentOf(frames)).toBe('Let me look. Found it.')
  expect(frames.some(({ data }) => data.includes('"prompt_tokens":10,"completion_tokens":14'))).toBe(true)
  const { content } = (await up.call(2)).body.messages.at(-1)
  expect(content).toMatchObject([
    { type: 'tool_result', tool_use_id: 'toolu_1', content: expect.stringContaining('found it') },
  ])
  expect((await up.call(2)).body.messages.at(-2).content[0]).toMatchObject({ type: 'thinking', signature: 'c2lnbmVk' })
  // Later, and without any tool, the history still tells of the call: the server refuses what the API would refuse.
  await chooseNoTools()
  up.next(anthropic.tells({ text: ['Yes.'] }))
  expect(contentOf((await say('Sure?')).frames)).toBe('Yes.')
})

verifies('contract-6.loop', 'an agent on Gemini calls its tool and is told the result', async () => {
  const { up, say, chooseNoTools } = await open('gemini', 'gemini-3-flash')
  up.next(
    gemini.tells({ text: ['Let me look. '], calls: [{ name: 'look', args: { q: 'it' }, thoughtSignature: 'c2ln' }] }),
  )
  up.next(gemini.tells({ text: ['Found', ' it.'] }))
  const { frames } = await say('Look!')
  expect(contentOf(frames)).toBe('Let me look. Found it.')
  expect(frames.some(({ data }) => data.includes('"prompt_tokens":10,"completion_tokens":14'))).toBe(true)
  expect((await up.call(2)).body.contents.at(-1).parts).toMatchObject([
    { functionResponse: { name: 'look', response: { output: expect.stringContaining('found it') } } },
  ])
  await chooseNoTools()
  up.next(gemini.tells({ text: ['Yes.'] }))
  expect(contentOf((await say('Sure?')).frames)).toBe('Yes.')
})
