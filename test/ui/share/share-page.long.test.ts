/** The page of a share in a browser: without a login, live or not, until the token is good no more. */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser } from '../browser.ts'

const KEY = 'deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: KEY } })
const browser = await openBrowser()
afterAll(() => Promise.all([browser.close(), scene.close()]))

const key = { authorization: `Bearer ${KEY}` }
const share = async (id: string, body: object): Promise<{ id: string; path: string }> =>
  (await scene.call('POST', `${scene.sessions}/${id}/shares`, body, key)).json

verifies('contract-31.share-page', 'shows title and messages, and nothing of the product', async () => {
  scene.says(['An **answer** with [a link](https://example.com/) and ![a picture](https://example.com/a.png).'])
  const { id } = (await scene.call('POST', scene.sessions, { title: 'A trip', user: 'ann' }, key)).json
  await scene.send(id, 'Where to?', {}, key)
  const { path, id: shareId } = await share(id, {})
  await using page = await browser.page(scene.app.url)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(path)
  await page.getByRole('heading', { name: 'A trip' }).waitFor()
  await expect.poll(() => page.getByRole('article', { name: 'User' }).innerText()).toContain('Where to?')
  await expect.poll(() => page.getByRole('article', { name: 'Reply' }).locator('strong').innerText()).toBe('answer')
  await expect.poll(() => page.title()).toBe('A trip')
  await expect.poll(() => page.locator('form').count()).toBe(0)
  await expect
    .poll(() => page.evaluate("[...document.querySelectorAll('a')].map((one) => new URL(one.href).origin)"))
    .toEqual(['https://example.com', 'https://example.com'])
  expect(await axe(page)).toEqual([])
  const token = path.split('#')[1] ?? ''
  expect(asked.filter((url) => !url.startsWith(scene.app.url) || url.includes(token))).toEqual([])
  expect(asked.filter((url) => /\/api\/(?!v1\/agents\/[^/]+\/deploy\/sessions\/)/.test(url))).toEqual([])
  await scene.call('DELETE', `${scene.sessions}/${id}/shares/${shareId}`, undefined, key)
  await page.reload()
  await expect.poll(() => page.getByRole('alert').innerText()).toContain('was revoked')
  await expect.poll(() => page.getByRole('article').count()).toBe(0)
})

verifies(
  'contract-31.share-page',
  'follows a live session until it is revoked, and says where the link is cut',
  async () => {
    const { id } = (await scene.call('POST', scene.sessions, {}, key)).json
    const { path, id: shareId } = await share(id, { live: true })
    await using page = await browser.page(scene.app.url)
    await page.goto(path)
    await page.getByRole('heading', { name: 'Shared conversation' }).waitFor()
    const hand = scene.byHand()
    const sent = scene.send(id, 'Go on', {}, key)
    const call = await hand
    await call.text('Begun')
    await page.getByText('Begun').waitFor()
    await call.text(' and ended')
    await page.getByText('Begun and ended').waitFor()
    await call.finish('stop')
    await sent
    await page.locator('article[aria-label=Reply][aria-busy=false]').waitFor()
    await scene.call('DELETE', `${scene.sessions}/${id}/shares/${shareId}`, undefined, key)
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(0)
    await page.goto(path.split('#')[0] ?? '')
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('not complete')
  },
)
