/** The sign-in in a browser (contract section 33): the page, the provider, back to the page that was asked for. */
import { afterAll, expect } from 'vitest'
import { openBrowser } from '../../ui/browser.ts'
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
  expect(page.url()).toBe(`${scene.here.url}/agents`)
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await navigation.getByText('vera · viewer').waitFor()
  expect(await navigation.getByRole('link', { name: 'Sessions' }).count()).toBe(0)
  expect(await navigation.getByRole('link', { name: 'Audit' }).count()).toBe(0)
  const create = page.getByRole('button', { name: 'New agent' })
  expect([await create.isDisabled(), await create.getAttribute('title')]).toEqual([true, 'This needs the role editor.'])
  await page.goto('/audit')
  await page.getByText('This needs the role admin.').waitFor()
  await page.goto('/agents')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('Username').waitFor()
})
