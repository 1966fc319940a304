/** HTTP tools as a person makes and tries them, against a real server. */
import { afterAll, expect, test } from 'vitest'
import { startToolServer } from '../../http/tool-scene.ts'
import { startTestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'

const app = await startTestApp()
const server = await startToolServer(({ url }) => JSON.stringify({ city: url.pathname.slice(1), days: 3 }))
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

test('made from a template, its arguments derived, then tried', async () => {
  await app.sql`delete from http_tools`
  const before = server.requests.length
  await using page = await browser.page(app.url)
  await page.goto('/tools/http')
  await page.getByRole('link', { name: 'Create the first one' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('weather')
  await page.getByLabel('Description', { exact: true }).fill('Gives the weather.')
  await page.getByLabel('URL').fill(`${server.url}/{{city}}?days={{days}}`)
  await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['{{city}}', '{{days}}'])
  await page.getByRole('button', { name: 'Describe them below' }).click()
  await expect.poll(() => page.getByLabel('Name of argument 2').inputValue()).toBe('days')
  await page.getByLabel('Type of argument 2').selectOption('integer')
  await page.getByLabel('Argument 2 is required').uncheck()
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Name of header 1').fill('x-api-key')
  await page.getByLabel('Value of header 1').fill('hush')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'Create tool' }).click()

  await page.getByRole('heading', { name: 'Try it' }).waitFor()
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('***')
  const stored = (await app.client.GET('/api/v1/http-tools')).data?.httpTools[0]
  expect(stored?.inputSchema).toEqual({
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  })
  await page.getByRole('textbox', { name: 'city' }).fill('Köln')
  await page.getByRole('textbox', { name: 'days' }).fill('3')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Status 200').waitFor()
  await page.getByText('"days": 3').waitFor()
  expect(server.requests[before]?.url.search).toBe('?days=3')
  expect(server.requests[before]?.request.headers['x-api-key']).toBe('hush')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.getByRole('textbox', { name: 'days' }).fill('many')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Not sent').waitFor()
  expect(server.requests).toHaveLength(before + 1)
})

test('values of a session that a tool names are given in its test', async () => {
  const { data } = await app.client.POST('/api/v1/http-tools', {
    body: {
      name: 'of-user',
      description: '',
      method: 'GET',
      url: `${server.url}/orders`,
      headers: { 'x-user': '{{session.user}}', 'x-plan': '{{session.metadata.plan|free}}' },
    },
  })
  const before = server.requests.length
  await using page = await browser.page(app.url)
  await page.goto(`/tools/http/${data?.id}`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('session.user').nth(1).waitFor()
  expect(server.requests).toHaveLength(before)
  await page.getByRole('textbox', { name: 'session.user' }).fill('ann')
  await page.getByRole('textbox', { name: 'session.metadata.plan' }).fill('gold')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Status 200').waitFor()
  const { headers } = server.requests.at(-1)?.request ?? {}
  expect([headers?.['x-user'], headers?.['x-plan']]).toEqual(['ann', 'gold'])
})

test('a schema that is not JSON, and a secret that would move, are reported at their fields', async () => {
  const { data } = await app.client.POST('/api/v1/http-tools', {
    body: { name: 'b', description: '', method: 'POST', url: 'https://a.example/', headers: { authorization: 'x' } },
  })
  await using page = await browser.page(app.url)
  await page.goto(`/tools/http/${data?.id}`)
  await page.getByText('JSON', { exact: true }).click()
  await page.getByLabel('JSON Schema of the arguments').fill('{"type": ')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page
    .getByRole('alert')
    .getByText(/^Is not JSON/)
    .waitFor()
  await page.getByLabel('JSON Schema of the arguments').fill('{"type": "string"}')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page
    .getByRole('alert')
    .getByText(/object/)
    .waitFor()
  await page.getByLabel('JSON Schema of the arguments').fill('')
  await page.getByLabel('URL').fill('https://b.example/')
  await page.getByText('Enter the secret values again').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Authorization: must be sent again when url moves to another origin').waitFor()
  expect(await axe(page)).toEqual([])
})

test('what is typed while it is saved stays, and what was saved of a secret is hidden', async () => {
  const { data } = await app.client.POST('/api/v1/http-tools', {
    body: { name: 'held', description: 'Before', method: 'GET', url: 'https://a.example/' },
  })
  await using page = await browser.page(app.url)
  await page.goto(`/tools/http/${data?.id}`)
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Name of header 1').fill('x-api-key')
  await page.getByLabel('Value of header 1').fill('hush')
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(/\/api\/v1\/http-tools\//, async (route) => {
    if (route.request().method() === 'PUT') {
      begun.resolve()
      await held.promise
    }
    await route.continue()
  })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await begun.promise
  await page.getByLabel('Description', { exact: true }).fill('Typed meanwhile')
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Name of header 2').fill('x-more')
  held.resolve()
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('***')
  await expect.poll(() => page.getByLabel('Description', { exact: true }).inputValue()).toBe('Typed meanwhile')
  await expect.poll(() => page.getByLabel('Name of header 2').inputValue()).toBe('x-more')
  await page.getByText('Not saved yet').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
  const stored = (await app.client.GET('/api/v1/http-tools/{id}', { params: { path: { id: data?.id ?? '' } } })).data
  expect([stored?.description, stored?.headers]).toEqual(['Typed meanwhile', { 'x-api-key': '***', 'x-more': '' }])
})
