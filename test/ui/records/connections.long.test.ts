/** The connections of users, as an operator finds those of one user and ends one (contract section 27). */
import { afterAll, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const rows = (page: TestPage) => page.getByRole('table', { name: 'Connections' }).locator('tbody tr')
const LONG = 'a-very-long-name-without-any-place-to-break-it'.repeat(3)

async function addServer(name: string): Promise<string> {
  const { data } = await app.client.POST('/api/v1/mcp-servers', {
    body: { name, transport: 'streamable_http', url: 'https://mcp.example.com/mcp', auth: 'user' },
  })
  return data?.id ?? ''
}

verifies('contract-27.connections-page', 'where nobody has signed in, the page leads to the servers', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/connections')
  await page.getByRole('heading', { name: 'Nobody has signed in' }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('link', { name: 'Open the MCP servers' }).click()
  await page.getByRole('heading', { level: 1, name: 'MCP servers' }).waitFor()
})

verifies(
  'contract-27.connections-page',
  'a user’s connections are found by the user’s id, and one is ended after a question',
  async () => {
    await app.sql`delete from mcp_servers`
    const { agentId } = await createAgent(app)
    const [shop, desk] = [await addServer('shop'), await addServer(LONG)]
    const connect = (user: string, server: string, scope: string | null, endsIn: string | null) => app.sql`
      insert into mcp_connections (agent_id, end_user, mcp_server_id, sealed, scope, expires_at)
      values (${agentId}, ${user}, ${server}, '', ${scope}, now() + ${endsIn}::interval)`
    await connect('ann', shop, 'orders refunds', '1 hour')
    await connect('ann', desk, null, null)
    await connect(LONG, shop, LONG, '-1 hour')
    for (let nth = 1; nth <= 20; nth++) await connect(`user ${nth}`, shop, 'orders', null)

    await using page = await browser.page(app.url)
    await page.goto('/')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Connections' }).click()
    await page.getByText('1–20 of 23', { exact: true }).waitFor()
    expect(await sidewaysScroll(page)).toEqual([])
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      const wider = 'document.documentElement.scrollWidth > innerWidth'
      await expect.poll(async () => [width, await page.evaluate<boolean>(wider)]).toEqual([width, false])
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    expect(await axe(page)).toEqual([])
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await page.getByText('21–23 of 23', { exact: true }).waitFor()

    await page.getByRole('searchbox', { name: 'Whole user id' }).fill('ann')
    await expect.poll(() => rows(page).count()).toBe(2)
    await expect.poll(() => new URL(page.url()).search).toBe('?user=ann')
    const cells = rows(page).filter({ hasText: 'refunds' }).getByRole('cell')
    const first = async () => (await cells.allInnerTexts()).slice(0, 4)
    await expect.poll(first).toEqual(['ann', 'shop', 'Agent', 'orders\nrefunds'])
    await page.reload()
    const end = page.getByRole('button', { name: 'Disconnect ann from shop with Agent', exact: true })
    await end.click()
    const dialog = page.getByRole('dialog', { name: 'Delete the connection “ann at shop”?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await end.click()
    await dialog.waitFor()
    expect(await axe(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(await app.sql`select from mcp_connections where end_user = 'ann'`).toHaveLength(1)

    await page.getByRole('searchbox', { name: 'Whole user id' }).fill('nobody')
    await page.getByText('This user has signed in nowhere', { exact: true }).waitFor()
    await page.goto(`/connections?server=${desk}`)
    await expect.poll(() => rows(page).count()).toBe(1)
    await page.goto(`/tools/mcp/${shop}`)
    await page.getByRole('link', { name: LONG, exact: true }).click()
    await page.getByText('Renewed on next use', { exact: true }).waitFor()
    await expect.poll(() => rows(page).count()).toBe(1)
  },
)
