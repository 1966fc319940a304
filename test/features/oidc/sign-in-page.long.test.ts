/** The sign-in in a browser (contract section 33): the page, the provider, back to the page that was asked for. */
import { afterAll, expect } from 'vitest'
import { openBrowser, type TestPage } from '../../ui/browser.ts'
import { verifies } from '../../verifies.ts'
import { openSignIn } from './scene.ts'

const scene = await openSignIn({ PUBLIC_URL: '' })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

verifies('contract-33.pages', 'a person signs in with one button, and sees what the role opens', async () => {
  scene.provider.person = { sub: 'v', preferred_username: 'vera', groups: ['readers'] }
  await using page = await browser.page(scene.here.url, { fresh: true })
  await page.goto(`${scene.here.url}/agents`)
  await page.getByLabel('Username').waitFor()
  await page.getByRole('link', { name: 'Sign in with your organization' }).click()
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.waitForURL(`${scene.here.url}/agents`)
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await navigation.getByText('vera · viewer').waitFor()
  for (const name of ['Sessions', 'Audit']) {
    await expect.poll(() => navigation.getByRole('link', { name }).count()).toBe(0)
  }
  const create = page.getByRole('button', { name: 'New agent' })
  const told = async () => [await create.isDisabled(), await create.getAttribute('title')]
  await expect.poll(told).toEqual([true, 'This needs the role editor.'])
  await page.goto('/audit')
  await page.getByText('This needs the role admin.').waitFor()
  await page.goto('/agents')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Username').waitFor()
})

verifies(
  'contract-33.pages',
  'no page that a role opens asks for what the role does not open, and its controls say so',
  async () => {
    await scene.session('ann')
    const root = scene.browser()
    const json = { 'content-type': 'application/json' }
    const post = async (path: string, body: object) =>
      (await root.ask(path, { method: 'POST', headers: json, body: JSON.stringify(body) })).json()
    await post('/api/auth/login', { username: 'root', password: 'secret-word' })
    const { providerId } = (await root.ask(`/api/v1/agents/${scene.agentId}`)).json()
    const tool = { name: 'Look', description: 'Looks.', method: 'GET', url: 'http://127.0.0.1:9/' }
    const { id: toolId } = await post('/api/v1/http-tools', tool)
    await root.ask(`/api/v1/agents/${scene.agentId}`, {
      method: 'PUT',
      headers: json,
      body: JSON.stringify({ userLimits: { requestsPerMinute: 5 } }),
    })
    const controls = [
      ['/', 'Try it', 'editor'],
      ['/agents', 'New agent', 'editor'],
      [`/agents/${scene.agentId}`, 'Try it', 'editor'],
      [`/agents/${scene.agentId}`, 'Replays', 'editor'],
      [`/agents/${scene.agentId}?section=limits`, 'Delete', 'admin'],
      ['/providers', 'New provider', 'admin'],
      [`/providers/${providerId}`, 'Test connection', 'admin'],
      [`/tools/http/${toolId}`, 'Run', 'editor'],
      [`/tools/http/${toolId}`, 'Save', 'editor'],
    ] as const
    for (const [role, group] of [
      ['viewer', 'readers'],
      ['editor', 'writers'],
    ] as const) {
      scene.provider.person = { sub: role, preferred_username: role, groups: [group] }
      await using page = await browser.page(scene.here.url, { fresh: true })
      // Pages of editors follow streams, which never rest.
      const read = (at: TestPage) => at.waitForLoadState(role === 'viewer' ? 'networkidle' : 'load')
      const refused: string[] = []
      page.on('response', (answer) => {
        if (answer.status() === 403)
          refused.push(`${role}: ${answer.request().method()} ${answer.url()} at ${page.url()}`)
      })
      await page.goto('/')
      await page.getByRole('link', { name: 'Sign in with your organization' }).click()
      const navigation = page.getByRole('navigation', { name: 'Main' })
      await navigation.getByText(`${role} · ${role}`).waitFor()
      for (const [path, name, least] of controls.filter(([, , one]) => one !== role)) {
        await page.goto(path)
        const named = { name, exact: true }
        const control = page.getByRole('button', named).or(page.getByRole('link', named)).first()
        await control.waitFor()
        const words = [path, name, role]
        const told = async () => [...words, await control.isDisabled(), await control.getAttribute('title')]
        await expect.poll(told).toEqual([...words, true, `This needs the role ${least}.`])
      }
      const links = await navigation
        .getByRole('link')
        .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
      for (const link of links.filter((one) => one.startsWith('/') && one !== '/docs')) {
        await page.goto(link)
        await page.locator('h1').first().waitFor()
        await read(page)
      }
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Go to' }).waitFor()
      await expect.poll(() => page.getByRole('dialog').getByText('Audit').count()).toBe(0)
      await read(page)
      expect(refused).toEqual([])
    }
  },
)
