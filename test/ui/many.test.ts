/** With 300 agents and 5,000 sessions no page asks the server ten times. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { openBrowser } from './browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const { agentId } = await createAgent(app)
await app.sql`
  insert into agents (name, provider_id, model)
  select 'Agent ' || n, (select provider_id from agents where id = ${agentId}), 'm' from generate_series(2, 300) n`
await app.sql`
  insert into sessions (id, agent_id, title, next_seq, status)
  select gen_random_uuid(), agents.id, 'Session ' || n, 1, 'idle'
    from (select id, row_number() over () as at from agents) agents, generate_series(1, 17) n where (at - 1) * 17 + n <= 5000`
const [session] = await app.sql<{ id: string; agent: string }[]>`select id, agent_id as agent from sessions limit 1`
const playground = `/playground/${session?.agent}`

test('every page, first visited, calls the API less than ten times', async () => {
  const [{ count = 0 } = {}] = await app.sql<{ count: number }[]>`select count(*)::integer as count from sessions`
  expect(count).toBe(5000)
  const found: Record<string, number> = {}
  await using page = await browser.page(app.url)
  let calls = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/')) calls += 1
  })
  for (const path of [
    ...['/', playground, `${playground}/${session?.id}`, `${playground}/compare`, '/sessions', '/waiting', '/usage'],
    ...['/chart', '/chart?view=replay', '/chart?view=traffic', '/chart?view=actors', '/tools/built-in'],
    ...['/agents', `/agents/${agentId}`, '/agents/new', '/providers', '/prompts', '/tools/http', '/tools/mcp'],
  ]) {
    calls = 0
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForLoadState('networkidle')
    found[path] = calls
  }
  expect(Object.entries(found).filter(([, of]) => of >= 10)).toEqual([])
}, 240_000)
