/**
 * What the tool path costs: replies in which the model asks for one HTTP tool call and one MCP call in a turn, beside
 * the same calls made by hand (two model calls on the official client, one fetch, one call on the official MCP client).
 * Model, tool and MCP server are on loopback and answer at once; everything shares this machine. Rounds are
 * interleaved, so that a machine that drifts drifts for all.
 */
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import OpenAI from 'openai'
import { createClient } from '../openapi/client.ts'
import { startApp } from '../src/compose/app.ts'
import { readSettings } from '../src/settings.ts'
import { startMcpServer } from '../test/support/mcp-servers.ts'
import { startUpstream, type UpstreamCall } from '../test/support/upstream.ts'

const ROUNDS = 3
const REPLIES = 150
const WARM_UP = 30

const usage = { prompt_tokens: 1, completion_tokens: 1 }

async function playModel(call: UpstreamCall): Promise<void> {
  const isFirst = call.body.messages.at(-1)?.role === 'user'
  if (isFirst) {
    await call.toolCall({ index: 0, id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' })
    await call.toolCall({ index: 1, id: 'call_b', name: 'Bench__echo', arguments: '{"text":"hello"}' })
    await call.finish('tool_calls', usage)
  } else {
    await call.text('Rain.')
    await call.finish('stop', usage)
  }
}

async function startWeather() {
  const server = createServer((_request, response) => response.end('{"weather":"rain"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

type Reply = () => Promise<void>

/** What one writes by hand: nothing is stored, checked or guarded. */
async function byHand(
  modelUrl: string,
  weatherUrl: string,
  mcpUrl: string,
): Promise<Reply & { stop(): Promise<void> }> {
  const openai = new OpenAI({ baseURL: modelUrl, apiKey: 'none', maxRetries: 0 })
  const mcp = new Client({ name: 'bench', version: '1' })
  await mcp.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)))
  const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
    let text = ''
    for await (const chunk of await openai.chat.completions.create({ model: 'm', stream: true, messages })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    return text
  }
  const reply = async () => {
    await ask([{ role: 'user', content: 'hi' }])
    const [weather, echo] = await Promise.all([
      fetch(`${weatherUrl}/cities/Oslo`).then((response) => response.text()),
      mcp.callTool({ name: 'echo', arguments: { text: 'hello' } }),
    ])
    const text = await ask([
      { role: 'user', content: 'hi' },
      { role: 'tool', tool_call_id: 'call_a', content: weather },
      { role: 'tool', tool_call_id: 'call_b', content: JSON.stringify(echo.content) },
    ])
    if (text !== 'Rain.') throw new Error(text)
  }
  return Object.assign(reply, { stop: () => mcp.close() })
}

/** The agent with both tools; answers its deploy URL. */
async function configure(url: string, modelUrl: string, weatherUrl: string, mcpUrl: string): Promise<string> {
  const api = createClient(url)
  const made = async (promise: Promise<{ data?: { id: string }; error?: unknown }>) => {
    const { data, error } = await promise
    if (!data) throw new Error(JSON.stringify(error))
    return data.id
  }
  const providerId = await made(
    api.POST('/api/v1/settings/providers', {
      body: { name: 'b', providerType: 'openai-compatible', baseUrl: modelUrl },
    }),
  )
  const agentId = await made(api.POST('/api/v1/agents', { body: { name: 'b', providerId, model: 'm' } }))
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const toolId = await made(
    api.POST('/api/v1/http-tools', {
      body: {
        name: 'weather',
        description: 'd',
        method: 'GET',
        url: `${weatherUrl}/cities/{{city}}`,
        inputSchema: schema,
      },
    }),
  )
  const serverId = await made(
    api.POST('/api/v1/mcp-servers', { body: { name: 'Bench', transport: 'streamable_http', url: mcpUrl } }),
  )
  await api.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [toolId], mcpServers: [{ mcpServerId: serverId, toolNames: ['*'] }] },
  })
  return `${url}/api/v1/agents/${agentId}/deploy`
}

async function post(url: string, body: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

const messages = [{ role: 'user', content: 'hi' }]

const stateless = (deploy: string) => async () => {
  if (!(await post(`${deploy}/chat/completions`, { stream: true, messages })).includes('Rain.'))
    throw new Error('no reply')
}

/** A session for each reply, so that none has a history. */
const inSession = (deploy: string) => async () => {
  const { id } = JSON.parse(await post(`${deploy}/sessions`, {}))
  const text = await post(`${deploy}/sessions/${id}/chat/completions`, { stream: true, messages })
  if (!text.includes('Rain.')) throw new Error(text)
}

async function time(reply: Reply, count: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const begin = performance.now()
    await reply()
    times.push(performance.now() - begin)
  }
  return times.sort((a, b) => a - b)
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
const median = (values: number[]) =>
  at(
    values.toSorted((a, b) => a - b),
    0.5,
  )

export async function benchTools(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'greenroom-bench-'))
  await mkdir(join(folder, 'data'), { mode: 0o755 })
  await chmod(folder, 0o755)
  await using upstream = await startUpstream()
  upstream.always(playModel)
  await using mcp = await startMcpServer('streamable_http, old era')
  const weather = await startWeather()
  const app = await startApp(readSettings({ DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'error' }))
  const deploy = await configure(app.url, upstream.url, weather.url, mcp.url)
  const hand = await byHand(upstream.url, weather.url, mcp.url)
  const contenders: [string, Reply][] = [
    ['by hand', hand],
    ['Greenroom, stateless', stateless(deploy)],
    ['Greenroom, in a new session', inSession(deploy)],
  ]
  for (const [, reply] of contenders) await time(reply, WARM_UP)
  const rounds = new Map(contenders.map(([name]) => [name, [] as { p50: number; p99: number }[]]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, reply] of contenders) {
      const times = await time(reply, REPLIES)
      rounds.get(name)?.push({ p50: at(times, 0.5), p99: at(times, 0.99) })
    }
  }
  console.log(
    `One reply with one HTTP tool call and one MCP call; ${ROUNDS} rounds of ${REPLIES}, medians of the rounds.`,
  )
  console.log('| | p50 ms | p99 ms |\n|---|---|---|')
  for (const [name, results] of rounds) {
    const [p50, p99] = [median(results.map((r) => r.p50)), median(results.map((r) => r.p99))]
    console.log(`| ${name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`)
  }
  await hand.stop()
  weather.stop()
  await app.stop()
  await rm(folder, { recursive: true, force: true })
}
