/** Schemas, formats and conditions with numbers beyond 2^53 are edited in the pages without a loss (section 35). */
import { afterAll, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { openBrowser, type TestPage } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const WRITTEN = '9007199254740993'
const BESIDE = '9007199254740992'
const schema = (digits: string) =>
  `{"type":"object","properties":{"a":{"type":"integer","const":${digits},"default":1.0}}}`

/** Sends a body as it is written; the text of the answer. */
async function send(method: string, path: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${app.url}${path}`, { method, headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}
const read = async (path: string) => (await fetch(`${app.url}${path}`)).text()
const save = (page: TestPage) => page.getByRole('button', { name: 'Save', exact: true }).click()
const tool = (digits: string) =>
  `{"name":"exact","description":"First.","method":"POST","url":"https://a.example/","inputSchema":${schema(digits)}}`

verifies('contract-35.digits', 'the schema of a tool, of which another field is edited', async () => {
  const { id } = JSON.parse(await send('POST', '/api/v1/http-tools', tool(WRITTEN)))
  const path = `/api/v1/http-tools/${id}`
  await using page = await browser.page(app.url)
  await page.goto(`/tools/http/${id}`)
  const described = page.getByLabel('Description', { exact: true })
  await described.fill('Second.')
  await save(page)
  await expect.poll(() => read(path)).toContain('Second.')
  expect(await read(path)).toContain(`"inputSchema":${schema(WRITTEN)}`)

  // Another editor changes the last digit alone: the page shows the new number, which JavaScript takes for the old one.
  await send('PUT', path, `{"inputSchema":${schema(BESIDE)}}`)
  await page.getByRole('link', { name: 'Prompts' }).click()
  await page.getByRole('heading', { name: 'Prompts', exact: true }).waitFor()
  await page.goBack()
  const json = page.getByLabel('JSON Schema of the arguments')
  await expect.poll(() => json.inputValue()).toContain(`"const": ${BESIDE}`)
  await json.fill((await json.inputValue()).replace('"default": 1.0', '"default": 2.0'))
  await save(page)
  const next = schema(BESIDE).replace('1.0', '2.0')
  await expect.poll(() => read(path)).toContain(`"inputSchema":${next}`)
})

verifies(
  'contract-35.digits',
  'the format and a condition of an agent and its draft, compared as versions',
  async () => {
    const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: 'https://model.example/v1' })
    const agent = `/api/v1/agents/${agentId}`
    const { id } = JSON.parse(await send('POST', '/api/v1/http-tools', tool(WRITTEN).replace('exact', 'asking')))
    const format = `{"type":"json_schema","json_schema":{"name":"a","schema":${schema(WRITTEN)}}}`
    await send('PUT', agent, `{"responseFormat":${format}}`)
    const approvals = `[{"httpToolId":"${id}","when":{"properties":{"a":{"const":${WRITTEN}}}}}]`
    await send('PUT', `${agent}/tools`, `{"httpToolIds":["${id}"],"approvals":${approvals}}`)
    await using page = await browser.page(app.url)
    await page.goto(`/agents/${agentId}`)
    // It formats what was typed when it is left.
    const typed = page.getByLabel('Response format')
    await expect.poll(() => typed.inputValue()).toContain(`"const": ${WRITTEN}`)
    await page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('button', { name: 'Generation', exact: true })
      .click()
    await typed.fill(format)
    await typed.blur()
    await expect.poll(() => typed.inputValue()).toContain(`"const": ${WRITTEN},`)
    await page
      .getByRole('navigation', { name: 'Sections' })
      .getByRole('button', { name: 'General', exact: true })
      .click()
    await page.getByLabel('Model').first().fill('second-model')
    await save(page)
    await expect.poll(() => read(agent)).toContain('second-model')
    await page.getByText('Not saved yet').waitFor({ state: 'detached' })
    expect(await read(agent)).toContain(`"schema":${schema(WRITTEN)}`)
    expect(await read(`${agent}/tools`)).toContain(`"const":${WRITTEN}`)

    await page.getByLabel('Model').first().fill('third-model')
    await page.getByRole('button', { name: 'Save as draft' }).click()
    await page.getByRole('group', { name: 'Draft' }).getByText('Changes model').waitFor()
    for (const part of ['', '/tools']) expect(await read(`${agent}${part}?draft=true`)).toContain(`"const":${WRITTEN}`)

    await send('PUT', `${agent}?draft=true`, `{"responseFormat":${format.replace(WRITTEN, BESIDE)}}`)
    await page.reload()
    await page.getByRole('group', { name: 'Draft' }).getByText('Changes model, response format').waitFor()
    await send('PUT', agent, `{"responseFormat":${format.replace(WRITTEN, BESIDE)}}`)
    await page.goto(`/agents/${agentId}/versions`)
    await expect.poll(() => page.locator('ins').allTextContents()).toEqual([expect.stringContaining(BESIDE)])
    await expect.poll(() => page.locator('del').allTextContents()).toEqual([expect.stringContaining(WRITTEN)])
  },
)
