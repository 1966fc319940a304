/**
 * `npm run data-set -- http://localhost:8080 postgres://…` fills a running, empty instance with more than any page shows at
 * once: 301 agents, 39 providers, 20,100 sessions, approvals that wait, failures of every kind, long texts, a long loop of
 * tools. Takes about a minute. To see how pages look with it; nothing of it is meant to be kept.
 */
import { readFile } from 'node:fs/promises'
import { argv } from 'node:process'
import postgres from 'postgres'
import { createClient } from '../../openapi/client.ts'
import { startScripted } from './upstream.ts'

const [url = '', databaseUrl = ''] = argv.slice(2)
if (url === '' || databaseUrl === '') {
  console.error('Usage: npm run data-set -- URL DATABASE_URL')
  process.exit(64)
}
const client = createClient(url)

/** Resolves once the reply has ended. */
async function ask(agentId: string, message: string): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) }
  const response = await fetch(`${url}/api/v1/agents/${agentId}/playground/chat`, init)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  await response.text()
}

function idOf({ data, error }: { data?: { id: string } | undefined; error?: unknown }): string {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

async function genuine(): Promise<void> {
  await using scripted = await startScripted()
  const provider = { name: 'Scripted', providerType: 'openai-compatible', baseUrl: scripted.url } as const
  const providerId = idOf(await client.POST('/api/v1/settings/providers', { body: provider }))
  const agent = { name: 'Approvals', providerId, model: 'scripted', generationConfig: { maxToolCalls: 40 } }
  const agentId = idOf(await client.POST('/api/v1/agents', { body: agent }))
  const params = { path: { agent_id: agentId } }
  const tools = (approvals: string[]) =>
    client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: { builtInToolIds: ['current_time'], approvals } })
  await tools([])
  await ask(agentId, 'loop 16: what time is it, again and again?')
  await ask(agentId, 'long: tell me all of it')
  await ask(agentId, `${'A question that was pasted from a log. '.repeat(5200)}`)
  for (const status of [400, 401, 403, 404, 429, 500, 503, 413]) await ask(agentId, `status ${status}`)
  for (let n = 0; n < 64; n++) await ask(agentId, `How is the weather in ${n} days?`)
  await tools(['current_time'])
  for (let n = 1; n <= 25; n++) await ask(agentId, `call number ${n}: is it time yet?`)
}

const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
try {
  const bulk = await readFile(new URL('bulk.sql', import.meta.url), 'utf8')
  await sql.begin((transaction) => transaction.unsafe(bulk))
  await genuine()
  await sql`analyze`
} finally {
  await sql.end()
}
