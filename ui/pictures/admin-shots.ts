/** The admin pages for shots.ts: what they show, and pictures of them empty, full and in trouble. */
import type { Page } from 'playwright-core'
import { startMcpServer } from '../../test/support/network/mcp-servers.ts'
import { startUpstream } from '../../test/support/network/upstream.ts'
import { demoAgent, type Product } from '../../test/support/programs/product.ts'
import type { Shot } from './shots.ts'

const models = [
  ...['gpt-oss-120b', 'gpt-oss-20b', 'llama-3.3-70b-instruct', 'mistral-small-3.2', 'qwen3-32b', 'qwen3-coder-30b'],
  ...['deepseek-r1-distill-70b', 'gemma-3-27b-it', 'phi-4', 'text-embedding-bge-m3'],
]

const weather = {
  name: 'get_weather',
  description: 'Gives the weather of a city for the next days: temperature, rain, wind.',
  method: 'GET' as const,
  url: 'https://api.weather.example/v2/forecast/{{city}}?days={{days}}&units=metric',
  headers: { 'x-api-key': 'w-3f9a77c1', accept: 'application/json' },
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Name of the city, in English.' },
      days: { type: 'integer', description: 'How many days, 1 to 10.' },
    },
    required: ['city'],
  },
}

const idOf = ({ data, error }: { data?: { id: string }; error?: unknown }): string => {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

/** Fills the product, and hands the shots to `take` while the servers that they need are up. */
export async function withAdminShots({ client }: Product, take: (shots: Shot[]) => Promise<void>): Promise<void> {
  await using up = await startUpstream()
  await using mcp = await startMcpServer('streamable_http, new era')
  up.models = models
  const provider = idOf(
    await client.POST('/api/v1/settings/providers', {
      body: { name: 'Our vLLM', providerType: 'openai-compatible', baseUrl: up.url, apiKey: 'sk-our-own-key-4f2a' },
    }),
  )
  const lost = idOf(
    await client.POST('/api/v1/settings/providers', {
      body: { name: 'Old server', providerType: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' },
    }),
  )
  const tool = idOf(await client.POST('/api/v1/http-tools', { body: weather }))
  await client.POST('/api/v1/http-tools', {
    body: {
      name: 'find_order',
      description: 'Reads an order.',
      method: 'POST',
      url: 'https://shop.example/orders/search',
    },
  })
  const server = idOf(
    await client.POST('/api/v1/mcp-servers', {
      body: {
        name: 'tickets',
        transport: 'streamable_http',
        url: mcp.url,
        headers: { authorization: 'Bearer secret' },
      },
    }),
  )
  const away = idOf(
    await client.POST('/api/v1/mcp-servers', {
      body: { name: 'archive', transport: 'sse', url: 'http://127.0.0.1:9/sse' },
    }),
  )
  const agent = idOf(
    await client.POST('/api/v1/agents', {
      body: { name: 'Support', providerId: provider, model: 'gpt-oss-120b', generationConfig: { temperature: 0.4 } },
    }),
  )
  const chosen = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agent } },
    body: {
      httpToolIds: [tool],
      mcpServers: [
        { mcpServerId: server, toolNames: ['echo', 'mixed'] },
        { mcpServerId: away, toolNames: ['*'] },
      ],
      builtInToolIds: ['web_fetch'],
    },
  })
  if (chosen.error) throw new Error(JSON.stringify(chosen.error))
  await take(shotsOf({ provider, lost, tool, server, away, agent }))
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click()

function shotsOf(ids: Record<'provider' | 'lost' | 'tool' | 'server' | 'away' | 'agent', string>): Shot[] {
  const test = (words: string) => async (page: Page) => {
    await press('Test connection')(page)
    await page.getByText(words).waitFor()
  }
  return [
    { name: 'home', path: '/' },
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: `/agents/${ids.agent}`, full: true },
    { name: 'agent-new', path: '/agents/new' },
    { name: 'agent-use', path: `/agents/${demoAgent}?tab=use`, full: true },
    { name: 'agent-code', path: `/agents/${ids.agent}?tab=use&lang=javascript` },
    { name: 'providers', path: '/providers' },
    { name: 'provider', path: `/providers/${ids.provider}`, act: test('Answered in') },
    { name: 'provider-lost', path: `/providers/${ids.lost}`, act: test('The test failed') },
    { name: 'provider-new', path: '/providers/new?type=openai', full: true },
    {
      name: 'provider-delete',
      path: `/providers/${ids.provider}`,
      async act(page) {
        await press('Delete')(page)
        await page.getByRole('dialog').getByText('is used by').waitFor()
      },
    },
    { name: 'http-tools', path: '/tools/http' },
    { name: 'http-tool', path: `/tools/http/${ids.tool}`, full: true },
    { name: 'http-tool-new', path: '/tools/http/new' },
    { name: 'mcp-servers', path: '/tools/mcp' },
    {
      name: 'mcp-server',
      path: `/tools/mcp/${ids.server}`,
      act: (page) => page.getByRole('button', { name: 'echo' }).click(),
    },
    { name: 'mcp-server-away', path: `/tools/mcp/${ids.away}` },
    { name: 'built-in-tools', path: '/tools/built-in' },
  ]
}
