/** MCP servers as a person connects them, against real ones. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startMcpServer } from '../../support/network/mcp-servers.ts'
import { freePort } from '../../support/programs/free-port.ts'
import { axe, openBrowser, sidewaysScroll, unique } from '../browser.ts'

const app = await startTestApp()
const mcp = await startMcpServer('streamable_http, new era')
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await mcp[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const addServer = async (name: string, url: string): Promise<string> => {
  const { data } = await app.client.POST('/api/v1/mcp-servers', { body: { name, transport: 'streamable_http', url } })
  return data?.id ?? ''
}

test('connected, and its tools seen with their arguments', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/tools/mcp/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('tickets')
  await page.getByLabel('URL').fill('ftp://x')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('Must be a URL that starts with http:// or https://').waitFor()
  await page.getByLabel('URL').fill(mcp.url)
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Tools (7)' }).waitFor()
  await page.getByRole('button', { name: 'echo Says it again.' }).click()
  await page.getByText('"text": {').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a tool is tried where it is listed, and what a model would be told is shown', async () => {
  const id = await addServer('tried', mcp.url)
  await using page = await browser.page(app.url)
  await page.goto(`/tools/mcp/${id}`)
  await page.getByRole('button', { name: 'echo Says it again.' }).click()
  const trial = page.getByRole('form', { name: 'Try echo' })
  await trial.getByLabel('text').fill('la la')
  await trial.getByRole('button', { name: 'Run' }).click()
  await trial.getByText('Answered', { exact: true }).waitFor()
  await trial.getByText('la la', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'fail Says that it failed.' }).click()
  const failing = page.getByRole('form', { name: 'Try fail' })
  await failing.getByRole('button', { name: 'Run' }).click()
  await failing.getByText('Failed', { exact: true }).waitFor()
})

test('one that is away is told kindly, and asked again', async () => {
  const away = await startMcpServer('streamable_http, new era', await freePort())
  await away[Symbol.asyncDispose]()
  const id = await addServer('away', away.url)
  await using page = await browser.page(app.url)
  await page.goto(`/tools/mcp/${id}`)
  await page.getByText('The server does not answer').waitFor()
  expect(await axe(page)).toEqual([])
  await using back = await startMcpServer('streamable_http, new era', away.port)
  await page.getByRole('button', { name: 'Refresh tools' }).click()
  await page.getByRole('heading', { name: 'Tools (7)' }).waitFor()
  expect(back.requests.length).toBeGreaterThan(0)
})

test('an agent takes all of its tools, or the ones that are ticked', async () => {
  const name = unique('picked')
  const id = await addServer(name, mcp.url)
  const { agentId } = await createAgent(app)
  const choice = async () =>
    (await app.client.GET('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: agentId } } })).data
      ?.mcpServers
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByRole('checkbox', { name }).check()
  await page.getByText('Now: echo, wait').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(choice).toEqual([{ mcpServerId: id, toolNames: ['*'] }])
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByText('Only these').click()
  for (const tool of ['wait', 'crash', 'fail', 'mixed', 'big']) {
    await page.getByRole('checkbox', { name: tool }).uncheck()
  }
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(choice).toEqual([{ mcpServerId: id, toolNames: ['echo', 'huge'] }])
  await page.reload()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByRole('checkbox', { name: 'echo' }).waitFor()
  await expect.poll(() => page.getByRole('checkbox', { name: 'echo' }).isChecked()).toBe(true)
  await expect.poll(() => page.getByRole('checkbox', { name: 'wait' }).isChecked()).toBe(false)
})
