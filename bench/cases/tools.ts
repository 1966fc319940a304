/** The cost of the tool path, beside the same calls made by hand. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startMcpServer } from '../../test/support/network/mcp-servers.ts'
import { chatBody, startServer } from '../contenders/chat-completions.ts'
import type { Ground } from '../environment/ground.ts'
import type { Figures, OwnCase, Rows } from '../runner/case.ts'
import type { Ask } from '../runner/contender.ts'
import { toolSchemas } from '../tool-schemas.ts'
import { ask, type GreenroomScene, load, startScene } from './greenroom-scene.ts'

const REPLIES = 150
/** Warm-up for each row: everything that a tool call needs is compiled and connected. */
const WARM_UP = 200
const TOKENS = 5
const PROMPT = `calls=1 tokens=${TOKENS} rate=0`

async function startWeather(): Promise<{ url: string } & Disposable> {
  const server = createServer((_request, response) => response.end('{"weather":"rain"}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it is a TCP server
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

/** Gives the scene's agent both tools. */
async function addTools({ product: { client }, agentId }: GreenroomScene, toolUrl: string, mcpUrl: string) {
  const idOf = async (made: Promise<{ data?: { id: string }; error?: unknown }>): Promise<string> => {
    const { data, error } = await made
    if (!data) throw new Error(JSON.stringify(error))
    return data.id
  }
  const { weather } = toolSchemas
  const url = `${toolUrl}/cities/{{city}}`
  const toolId = await idOf(
    client.POST('/api/v1/http-tools', {
      body: { name: 'weather', description: 'The weather.', method: 'GET', url, inputSchema: weather },
    }),
  )
  const serverId = await idOf(
    client.POST('/api/v1/mcp-servers', { body: { name: 'Bench', transport: 'streamable_http', url: mcpUrl } }),
  )
  const { error } = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [toolId], mcpServers: [{ mcpServerId: serverId, toolNames: ['*'] }] },
  })
  if (error) throw new Error(JSON.stringify(error))
}

type Asked = { readonly pids: readonly number[]; asks(count: number): Promise<Ask[]> }

async function measure(ground: Ground, { pids, asks }: Asked): Promise<Figures> {
  const { replyMs, cpu } = await load(ground, { pids }, { asks: await asks(REPLIES), tokens: TOKENS, slots: 1 })
  return {
    p50Ms: replyMs.p50,
    p99Ms: replyMs.p99,
    cpuUs: cpu.own / REPLIES,
    postgresUs: cpu.postgres / REPLIES,
  }
}

export const tools: OwnCase = {
  kind: 'own',
  name: 'tools',
  title: 'The tool path',
  rows: 'asked',
  note:
    `${REPLIES} replies in sequence, from the request to the last token; the model calls one HTTP tool and one MCP ` +
    'tool in a turn, then answers. Tools are on loopback and respond at once. By hand: the official clients of model and MCP, ' +
    'and fetch; nothing is stored, checked or guarded. Sessions are new, created before.',
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 1 },
    { key: 'p99Ms', title: 'p99 ms', digits: 1 },
    { key: 'cpuUs', title: 'CPU µs per reply', digits: 0 },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using mcp = await startMcpServer('streamable_http, old era')
    using weather = await startWeather()
    await using scene = await startScene(checkout, ground)
    await addTools(scene, weather.url, mcp.url)
    const handWritten = new URL('../contenders/hand-written-tools-server.ts', import.meta.url)
    await using hand = await startServer(handWritten, ground.upstreamUrl, weather.url, mcp.url)
    const times = (count: number, one: Ask): Ask[] => Array.from({ length: count }, () => one)
    const stateless: Ask = { url: `${scene.deploy}/chat/completions`, body: chatBody(PROMPT, true) }
    const inSessions = async (count: number) => (await scene.openMany(count)).map((session) => ask(session, PROMPT))
    const asked: Record<string, Asked> = {
      'by hand': { pids: hand.pids(), asks: async (count) => times(count, hand.ask('', PROMPT, true)) },
      'Greenroom, stateless': { pids: scene.pids, asks: async (count) => times(count, stateless) },
      'Greenroom, in a new session': { pids: scene.pids, asks: inSessions },
    }
    for (const { pids, asks } of Object.values(asked)) {
      await load(ground, { pids }, { asks: await asks(WARM_UP), tokens: TOKENS, slots: 1 })
    }
    const rows: Rows = {}
    for (const [name, one] of Object.entries(asked)) rows[name] = await measure(ground, one)
    return rows
  },
}
