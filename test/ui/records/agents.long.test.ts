/** Agents as a person changes, uses and deletes them. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { axe, focused, openBrowser, sidewaysScroll, type TestPage, unique } from '../browser.ts'

const run = promisify(execFile)
const key = 'deploy-key'
const app = await startTestApp({ settings: { PUBLIC_API_KEY: key } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const at = (page: TestPage, section: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: section, exact: true }).click()

test('a setting out of range is told at its field, and what is emptied is left to the provider', async () => {
  const { agentId } = await createAgent(app, { config: { topK: 5 } })
  const stored = async () =>
    (await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })).data?.generationConfig
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await at(page, 'Generation')
  const topP = page.getByLabel('Top P')
  await topP.fill('1.5')
  // What is wrong is shown where it is.
  await at(page, 'Requests')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Must be at most 1', { exact: true }).waitFor()
  await expect.poll(() => focused(page)).toBe(await topP.getAttribute('id'))
  expect(await axe(page)).toEqual([])
  await topP.fill('0.25')
  await page.getByLabel('Top K').fill('')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(stored).toEqual({ topP: 0.25 })
  await at(page, 'General')
  await page.getByLabel('Name').fill('Other')
  await page.getByRole('tab', { name: 'API' }).click()
  await page.getByRole('tab', { name: 'Settings' }).click()
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Other')
  await page.getByRole('link', { name: 'Prompts' }).click()
  await page.getByText('Leave without saving?').waitFor()
})

test('tools that are refused after the agent was made are corrected, and no second agent is made', async () => {
  const { providerId } = await createAgent(app)
  await app.sql`delete from agents where provider_id = ${providerId}`
  const [name, toolName] = [unique('Once'), unique('short-lived')]
  const { data: tool } = await app.client.POST('/api/v1/http-tools', {
    body: { name: toolName, description: '', method: 'GET', url: 'https://a.example/' },
  })
  await using page = await browser.page(app.url)
  await page.goto(`/agents/new?provider=${providerId}&model=m`)
  await page.getByLabel('Name').fill(name)
  await at(page, 'Tools')
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByRole('checkbox', { name: toolName }).check()
  await page.getByRole('button', { name: 'Done' }).click()
  await app.client.DELETE('/api/v1/http-tools/{id}', { params: { path: { id: tool?.id ?? '' } } })
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByText('There is no HTTP tool').waitFor()
  await page.getByRole('button', { name: `Remove ${toolName}` }).click()
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByText('The agent is ready').waitFor()
  const made = await app.client.GET('/api/v1/agents', { params: { query: { q: name } } })
  expect(made.data?.total).toBe(1)
})

test('fifty tools fit into two screens: the chosen ones are rows, each with what asks first', async () => {
  const { agentId } = await createAgent(app)
  await app.sql`delete from http_tools where name like 'many%'`
  await app.sql`
    insert into http_tools (name, description, method, url)
    select 'many_' || i, 'Does much.', 'GET', 'https://a.example/' from generate_series(1, 50) i`
  await app.sql`
    insert into agent_http_tools (agent_id, http_tool_id, place)
    select ${agentId}, id, num from http_tools where name like 'many%' and name <> 'many_50'`
  const stored = async () =>
    (await app.client.GET('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: agentId } } })).data
  await using page = await browser.page(app.url, { width: 1440, height: 900 })
  await page.goto(`/agents/${agentId}`)
  await at(page, 'Tools')
  await page.getByText('49 chosen').waitFor()
  for (const section of ['General', 'Tools', 'Generation', 'Requests', 'Limits', 'Web pages', 'Tools']) {
    await at(page, section)
    await expect.poll(() => page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(1800)
  }
  expect(await axe(page)).toEqual([])
  await page.getByRole('switch', { name: 'Ask before many_7 is called' }).check()
  await page.getByRole('button', { name: 'Remove many_8', exact: true }).click()
  await page.getByRole('button', { name: 'Add tools' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add tools' })
  await dialog.getByRole('searchbox', { name: 'Search HTTP tools' }).fill('many_50')
  await dialog.getByRole('checkbox', { name: 'many_50' }).check()
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(async () => (await stored())?.approvals).toEqual([{ httpToolId: expect.any(String) }])
  await expect.poll(async () => (await stored())?.httpToolIds.length).toBe(49)
})

/** Runs a program with the key in its environment; resolves to what it prints. */
const output = async (program: string, args: string[], session = '') => {
  const env = { PATH: process.env.PATH ?? '', GREENROOM_API_KEY: key, SESSION: session }
  return (await run(program, args, { env })).stdout
}
const shell = (script: string) => output('bash', ['-ec', script])
const node = (script: string, session?: string) =>
  output(process.execPath, ['--input-type=module', '-e', script], session)
/** `PYTHON` names another than the first in the path. */
const pythonPath = process.env.PYTHON ?? 'python3'
const python = (script: string, session?: string) => output(pythonPath, ['-c', script], session)
const pythonCan = (script: string) => spawnSync(pythonPath, ['-c', script]).status === 0

/** The page's code in this language: the session's four pieces, then the stateless one. */
async function codeOf(page: TestPage, agentId: string, lang: string): Promise<string[]> {
  const code: string[] = []
  for (const [mode, first] of [
    ['session', 'Create a session'],
    ['stateless', 'Send a message'],
  ]) {
    await page.goto(`/agents/${agentId}?tab=use&lang=${lang}&mode=${mode}`)
    await page.getByText(`${first}, `).waitFor()
    await page.getByText('This server requires a key').waitFor() // what the code depends on
    code.push(...(await page.locator('pre').allTextContents()))
  }
  return code
}

test('the shell’s code to take away runs as it stands, and speaks of the key', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}?tab=use`)
  await page.getByText('This server requires a key').waitFor()
  await page.getByText('Keep it on your servers: anyone who has it can use every agent.').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  const [create = '', message = '', resume = '', cancel = '', ask = ''] = await codeOf(page, agentId, 'curl')
  const [address, call] = create.replace('SESSION=…', '').split('\n\n')
  const session = JSON.parse(await shell(`${address}\n${call}`)).id
  const at = `${address}\nSESSION=${session}\n`
  expect(await shell(`${at}${message}`)).toContain('data: [DONE]')
  expect(await shell(`${at}${resume}`)).toMatch(/^id: 1\n/)
  await shell(`${at}${cancel} -sf`)
  expect(await shell(ask)).toContain('data: [DONE]')
})

test('so does the one in JavaScript, with OpenAI’s client', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const [create = '', message = '', resume = '', cancel = '', ask = ''] = await codeOf(page, agentId, 'javascript')
  const session = (await node(create)).trim()
  expect(await node(message, session)).toContain('Hello!')
  expect(await node(resume, session)).toContain('Hello!')
  await node(cancel, session)
  expect(await node(ask)).toContain('Hello!')
})

test.skipIf(!pythonCan(''))('the one in Python is Python', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const code = await codeOf(page, agentId, 'python')
  expect(code.length).toBe(5)
  for (const piece of code) await python(`compile(${JSON.stringify(piece)}, 'snippet', 'exec')`)
})

test.skipIf(!pythonCan('import httpx'))('it runs, where httpx and OpenAI’s client are installed', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const [create = '', message = '', resume = '', cancel = '', ask = ''] = await codeOf(page, agentId, 'python')
  const session = (await python(create)).trim()
  if (pythonCan('import openai')) {
    expect(await python(message, session)).toContain('Hello!')
    expect(await python(ask)).toContain('Hello!')
  } else
    await shell(`curl -sf ${app.url}/api/v1/agents/${agentId}/deploy/sessions/${session}/chat/completions ${curlHello}`)
  expect(await python(resume, session)).toContain('Hello!')
  await python(cancel, session)
})

const curlHello = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \
  -d '{"messages": [{"role": "user", "content": "Hello!"}]}'`

test('deleting says what is lost', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('All its sessions and messages are deleted permanently').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/agents')
  const gone = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  expect(gone.response.status).toBe(404)
})

test('the lists are read by everybody', async () => {
  await using page = await browser.page(app.url)
  for (const path of ['/agents', '/tools/http', '/tools/mcp', '/tools/built-in']) {
    await page.goto(path, { waitUntil: 'networkidle' })
    expect(await axe(page), path).toEqual([])
    expect(await sidewaysScroll(page), path).toEqual([])
  }
})

test('a provider is made from an agent that is being made, whose form keeps what was typed', async () => {
  await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto('/agents/new')
  await page.getByLabel('Name').fill('Half written')
  await page.getByRole('button', { name: 'New provider' }).click()
  const dialog = page.getByRole('dialog', { name: 'New provider' })
  await dialog.getByRole('radio', { name: 'Ollama' }).click()
  const cellar = unique('Cellar')
  await dialog.getByLabel('Name').fill(cellar)
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('combobox', { name: 'Provider' }).inputValue()).toBe(cellar)
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Half written')
})
