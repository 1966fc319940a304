/** The browser's way as the pages and the docs show it, in Chromium, from another origin. */
import { readFile } from 'node:fs/promises'
import { afterAll, expect } from 'vitest'
import { browserSnippets } from '../../../ui/src/agents/use-it/browser-snippets.ts'
import { call } from '../../http/scene.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { demoAgent } from '../../support/programs/product.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from '../browser.ts'
import { type SiteCode, startSite } from './web-page.ts'

const key = 'deploy-key'
const app = await startTestApp({ settings: { PUBLIC_API_KEY: key } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const allow = (agentId: string, allowedOrigins: string[]) =>
  app.client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body: { allowedOrigins } })

/** What the pages show. */
function shown(agentId: string): SiteCode {
  const place = { origin: app.url, agentId, deployPath: deployPath(agentId), needsKey: true }
  const [route, page] = browserSnippets(place)
  return { route: route?.code ?? '', page: page?.code ?? '' }
}

/** What docs/front-ends/from-a-browser.md shows: its route, and one of its pages. */
async function documented(agentId: string, place: number): Promise<SiteCode> {
  const text = await readFile(new URL('../../../docs/front-ends/from-a-browser.md', import.meta.url), 'utf8')
  const here = text.replaceAll('http://127.0.0.1:8080', app.url).replaceAll(demoAgent, agentId)
  const blocks = [...here.matchAll(/^```(?:js|html)\n(.*?)^```$/gms)].map(([, code = '']) => code)
  return { route: blocks[0] ?? '', page: blocks[place] ?? '' }
}

const deployPath = (agentId: string) => `/api/v1/agents/${agentId}/deploy`

const sessionsOf = async (agentId: string) => {
  const rows = await app.sql<{ id: string; user: string }[]>`
    select id, end_user as user from sessions where agent_id = ${agentId}`
  return [...rows]
}
const stored = (session: string) =>
  app.sql<{ content: string; reason: string | null }[]>`
    select content, finish_reason as reason from messages where session_id = ${session} order by position`

const logHolds = (page: TestPage, text: string) =>
  expect.poll(() => page.locator('pre').textContent(), { timeout: WAIT_MS }).toContain(text)

const sources: [string, (agentId: string) => SiteCode | Promise<SiteCode>][] = [
  ['of the pages', shown],
  ['of the docs', (agentId) => documented(agentId, 1)],
]
for (const [name, code] of sources) {
  verifies(
    ['contract-11.client', 'contract-11.pages'],
    `the code ${name} chats, reads on after a reload, and stops`,
    async () => {
      const { agentId } = await createAgent(app)
      await using site = await startSite('anna', key, () => code(agentId))
      await allow(agentId, [site.origin])
      await using page = await browser.page(site.origin)
      await page.goto('/')
      await page.locator('input').fill('/echo Hello there')
      await page.getByRole('button', { name: 'Send' }).click()
      await logHolds(page, '> /echo Hello there\nHello there\n')
      await page.locator('input').fill('/slow 600')
      await page.getByRole('button', { name: 'Send' }).click()
      await logHolds(page, '1 2 3')
      await page.reload()
      await logHolds(page, '1 2 3 4')
      await page.getByRole('button', { name: 'Stop' }).click()
      const [session] = await sessionsOf(agentId)
      expect(session?.user).toBe('anna')
      await expect.poll(async () => (await stored(session?.id ?? '')).at(-1)?.reason).toBe('cancelled')
      await expect.poll(() => sessionsOf(agentId)).toHaveLength(1)
    },
  )
}

verifies('contract-11.client', 'a page with fetch and EventSource alone reads a reply from its secret', async () => {
  const { agentId } = await createAgent(app)
  await using site = await startSite('ben', key, () => documented(agentId, 2))
  await allow(agentId, [site.origin])
  await using page = await browser.page(site.origin)
  await page.goto('/')
  const text = Array.from({ length: 20 }, (_, i) => i + 1).join(' ')
  await page.getByText(text).waitFor()
})

verifies(
  'contract-11.client',
  'a secret that expires in the middle of a reply: it goes on, and so does the next message',
  async () => {
    const { agentId } = await createAgent(app)
    await using site = await startSite('cleo', key, () => {
      const { route, page } = shown(agentId)
      const short = "{ user: request.user.id, expires_after: { anchor: 'created_at', seconds: 10 } }"
      return { page, route: route.replace('{ user: request.user.id }', short) }
    })
    await allow(agentId, [site.origin])
    await using page = await browser.page(site.origin)
    await page.goto('/')
    await page.locator('input').fill('/slow 26')
    await page.getByRole('button', { name: 'Send' }).click()
    await logHolds(page, '25 26\n')
    const [first] = site.secrets
    const { status } = await fetch(`${app.url}${deployPath(agentId)}/sessions`, {
      headers: { authorization: `Bearer ${first}` },
    })
    expect(status, 'it has expired').toBe(401)
    await page.locator('input').fill('/echo after all')
    await page.getByRole('button', { name: 'Send' }).click()
    await logHolds(page, '> /echo after all\nafter all\n')
    expect(site.secrets.length).toBeGreaterThan(1)
  },
)

verifies(
  'contract-11.pages',
  'an origin is entered in the form, told where it is wrong, and shown where it counts',
  async () => {
    const { agentId } = await createAgent(app)
    const origins = async () =>
      (await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })).data?.allowedOrigins
    await using page = await browser.page(app.url)
    await page.goto(`/agents/${agentId}?tab=use&mode=browser`)
    await page.getByText('No websites are allowed yet').waitFor()
    await page.getByText('app.post(').waitFor()
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    await page.getByRole('link', { name: 'Allowed origins' }).click()
    const field = page.getByLabel('Allowed origins')
    await field.fill('https://a.example\n\nhttps://b.example/path')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('https://b.example/path: must be').waitFor()
    await field.fill(' https://a.example \n\nhttps://b.example')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(origins).toEqual(['https://a.example', 'https://b.example'])
    await page.getByRole('tab', { name: 'API' }).click()
    await page.getByText('Browser', { exact: true }).click()
    await page.getByText('Pages of https://a.example, https://b.example may call').waitFor()
  },
)

verifies(
  'contract-11.pages',
  'the playground finds sessions by user, and shows whose one is and what it carries',
  async () => {
    const { agentId } = await createAgent(app)
    const make = async (body: object) => {
      const url = `${app.url}${deployPath(agentId)}/sessions`
      const answer = await call(url, 'POST', body, { authorization: `Bearer ${key}` })
      return answer.json.id
    }
    const id = await make({
      user: 'anna',
      title: 'Of Anna',
      metadata: { plan: 'gold', 'a long name': 'x'.repeat(512) },
    })
    await make({ user: 'ben', title: 'Of Ben' })
    await make({ title: 'Of nobody' })
    await using page = await browser.page(app.url)
    await page.goto(`/playground/${agentId}/${id}`)
    const list = page.getByRole('navigation', { name: 'Sessions' })
    await list.getByText('Of Ben').waitFor()
    await page.getByLabel('Filter by user ID').fill('anna')
    await list.getByText('Of Ben').waitFor({ state: 'detached' })
    await expect.poll(() => list.getByRole('link').count()).toBe(1)
    await page.getByRole('button', { name: 'About this session' }).click()
    const facts = page.getByRole('dialog', { name: 'About this session' })
    await facts.getByText('anna').waitFor()
    await facts.getByText('gold').waitFor()
    expect(await axe(page)).toEqual([])
    await page.getByLabel('Filter by user ID').fill('nobody at all')
    await page.getByText('This user has no sessions.').waitFor()
  },
)
