/** A sign-in at an MCP server as a user meets it: card, page, provider, callback, and the call goes on (contract section 27). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { startSignInServers } from '../../../support/network/sign-in-servers.ts'
import { verifies } from '../../../verifies.ts'
import { axe, sidewaysScroll } from '../../browser.ts'
import { field, replies, say, startPlayground } from '../playground-scene.ts'

const { agentId, app, close, open, up } = await startPlayground({ OUTBOUND_ALLOW: '127.0.0.1' })
const servers = await startSignInServers()
afterAll(async () => {
  await close()
  await servers[Symbol.asyncDispose]()
})
const { data } = await app.client.POST('/api/v1/mcp-servers', {
  body: { name: 'shop', transport: 'streamable_http', url: servers.url, auth: 'user' },
})
await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
  params: { path: { agent_id: agentId } },
  body: { mcpServers: [{ mcpServerId: data?.id ?? '', toolNames: ['*'] }] },
})

verifies(
  'contract-27.sign-in-pages',
  'an administrator tries a sign-in from the agent’s tools, and the call goes on by itself',
  async () => {
    const before = servers.seen.authorizations.length
    await app.sql`delete from mcp_sign_ins`
    await using page = await open()
    await page.goto(`/agents/${agentId}`)
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
    await page.getByText('Each user signs in at: shop.').waitFor()
    expect(await axe(page)).toEqual([])
    await page.getByRole('button', { name: 'Try a sign-in' }).click()
    await page.mouse.move(0, 0) // what comes under the pointer would open its tooltip
    await field(page).waitFor()

    up.next(asks('', { name: 'shop__sign_in', arguments: '{}', id: 'c1' }))
    await say(page, 'What did I order?')
    const question = page.getByRole('region', { name: 'Waiting for a decision' })
    const link = question.getByRole('link', { name: 'Sign in' })
    await link.waitFor()
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    await expect
      .poll(async () => [await link.getAttribute('target'), await link.getAttribute('rel')])
      .toEqual(['_blank', 'noopener noreferrer'])
    expect(await axe(page)).toEqual([])

    const opened = page.context().waitForEvent('page')
    await link.click()
    const other = await opened
    await other.getByText(new URL(servers.url).host).waitFor()
    expect(await sidewaysScroll(other)).toEqual([])
    await other.getByRole('button', { name: 'Go on' }).click()
    await other.getByText('You are signed in to shop.').waitFor()
    expect(new URL(other.url()).pathname).toBe('/api/oauth/callback')
    expect(servers.seen.authorizations.length - before).toBe(1)
    await other.close()

    await replies(page).getByText('Fine.').waitFor()
    await question.waitFor({ state: 'hidden' })
    await page.goto(`/tools/mcp/${data?.id}`)
    await page.getByText('Signed-in users (1)').waitFor()
    await page.getByText('The tools are not shown here').waitFor()
    await page.getByRole('button', { name: 'Remove the sign-in of sign-in test' }).click()
    await page.getByText('Signed-in users (0)').waitFor()
  },
)
