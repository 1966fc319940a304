/** The question of an MCP server in the conversation: its form, with Send, Decline and Cancel (contract section 27). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { startAskingServer } from '../../../support/network/asking-server.ts'
import { verifies } from '../../../verifies.ts'
import { axe, sidewaysScroll } from '../../browser.ts'
import { replies, say, startPlayground } from '../playground-scene.ts'

const { agentId, app, close, open, playground, up } = await startPlayground()
const server = await startAskingServer()
afterAll(async () => {
  await close()
  await server[Symbol.asyncDispose]()
})
const made = await app.client.POST('/api/v1/mcp-servers', {
  body: { name: 'asks', transport: 'streamable_http', url: server.url },
})
// A reply waits 3 s for a list of tools, which the first one of a busy machine may take.
await app.client.GET('/api/v1/mcp-servers/{id}/tools', { params: { path: { id: made.data?.id ?? '' } } })
const mcpServers = [{ mcpServerId: made.data?.id ?? '', toolNames: ['*'] }]
await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
  params: { path: { agent_id: agentId } },
  body: { mcpServers },
})

verifies('contract-27.questions', 'a form and a page are answered in the playground', async () => {
  await using page = await open(playground)
  up.next(
    asks('', { name: 'asks__form', arguments: '{}', id: 'c1' }, { name: 'asks__page', arguments: '{}', id: 'c2' }),
  )
  await say(page, 'Hello')
  const question = page.getByRole('region', { name: 'Waiting for a decision' })
  const [form, visit] = [question.getByRole('article').nth(0), question.getByRole('article').nth(1)]
  await form.getByText('The MCP server “asks” asks:').waitFor()
  await expect.poll(() => form.getByLabel('Your name').inputValue()).toBe('Ann')
  const link = visit.getByRole('link')
  await expect
    .poll(async () => [await link.getAttribute('target'), await link.getAttribute('rel')])
    .toEqual(['_blank', 'noopener noreferrer'])
  await visit.getByText('example.com', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await sidewaysScroll(page)).toEqual([])
  await form.getByLabel('age').fill('7')
  await form.getByRole('button', { name: 'Send' }).click()
  await visit.getByRole('button', { name: 'Decline' }).click()
  await replies(page).getByText('Fine.').waitFor()
  expect(server.calls.slice(2).map(({ responses }) => responses)).toEqual(
    expect.arrayContaining([
      { who: { action: 'accept', content: { name: 'Ann', age: 7 } } },
      { pay: { action: 'decline' } },
    ]),
  )
})

verifies('contract-27.missing-record', 'a server that is missing stands above the reply and in its trace', async () => {
  const dead = await app.client.POST('/api/v1/mcp-servers', {
    body: { name: 'orders', transport: 'streamable_http', url: 'http://127.0.0.1:9/mcp' },
  })
  const chosen = [{ mcpServerId: dead.data?.id ?? '', toolNames: ['*'] }]
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { mcpServers: chosen },
  })
  await using page = await open(playground)
  await say(page, 'Hello again')
  const missing = replies(page).filter({ hasText: 'orders: it was not reached in time' })
  await missing.waitFor()
  await expect.poll(() => missing.innerText()).toMatch(/orders: it was not reached in time.*Fine\./s)
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Trace' }).click()
  await side
    .getByRole('list', { name: 'Spans of the reply' })
    .getByRole('button', { name: /^reply/ })
    .click()
  await side.getByText('orders (unreachable)', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
})
