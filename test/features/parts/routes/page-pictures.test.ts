/** Pictures on a page of another origin, after a reload (issue 69). */
import { afterAll, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { dataUrl, png } from './parts-scene.ts'

const page = 'http://shop.example'
const publicUrl = 'https://chat.example/greenroom'
const scene = await openScene({ settings: { PUBLIC_API_KEY: 'the-deploy-key-of-tests' } })
const placed = await openScene({ settings: { PUBLIC_URL: publicUrl } })
afterAll(() => Promise.all([scene.close(), placed.close()]))
for (const one of [scene, placed]) one.says(['Seen.'])

const picture = {
  role: 'user',
  parts: [{ type: 'file', mediaType: 'image/png', url: dataUrl('image/png', png()) }],
}

verifies('contract-13.page-pictures', 'a page of another origin gets an address that shows the picture', async () => {
  const key = { authorization: 'Bearer the-deploy-key-of-tests' }
  expect((await scene.call('PUT', scene.agent, { allowedOrigins: [page] })).status).toBe(200)
  const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'ann' }, key)).json
  const id = crypto.randomUUID()
  const asPage = { authorization: `Bearer ${value}`, origin: page }
  const api = `${scene.agent}/deploy/ai-sdk`
  expect((await scene.call('POST', api, { id, messages: [picture] }, asPage)).status).toBe(200)
  const { json } = await scene.call('GET', `${api}/${id}/messages`, undefined, asPage)
  const { url } = json.messages[0].parts[0]
  expect(url).toMatch(new RegExp(`^${scene.app.url}/api/v1/agents/`))
  const shown = await fetch(`${url}?access_token=${value}`)
  expect([shown.status, Buffer.from(await shown.arrayBuffer()).equals(png())]).toEqual([200, true])
  expect((await fetch(url)).status).toBe(401)
  expect((await fetch(`${url}?access_token=the-deploy-key-of-tests`)).status).toBe(401)
  const other = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'bob' }, key)).json
  expect((await fetch(`${url}?access_token=${other.value}`)).status).toBe(404)
  // An edited message sends its files as it was given them.
  const edited = { ...picture, parts: [{ type: 'file', mediaType: 'image/png', url: `${url}?access_token=${value}` }] }
  expect((await scene.call('POST', api, { id, messages: [edited] }, asPage)).status).toBe(200)
})

verifies(
  'contract-13.page-pictures',
  'PUBLIC_URL counts for everybody; without a page of another origin it is a path',
  async () => {
    const id = crypto.randomUUID()
    for (const [one, begin] of [
      [placed, `${publicUrl}/api/v1/`],
      [scene, '/api/v1/'],
    ] as const) {
      const key = { authorization: 'Bearer the-deploy-key-of-tests' }
      const api = `${one.agent}/deploy/ai-sdk`
      await one.call('POST', api, { id, messages: [picture] }, key)
      const { json } = await one.call('GET', `${api}/${id}/messages`, undefined, key)
      expect(json.messages[0].parts[0].url.slice(0, begin.length)).toBe(begin)
    }
  },
)

verifies('contract-13.page-pictures', 'an address of another server is never taken for a picture of ours', async () => {
  const key = { authorization: 'Bearer the-deploy-key-of-tests' }
  for (const [one, ours] of [
    [scene, scene.app.url],
    [placed, publicUrl],
  ] as const) {
    const id = crypto.randomUUID()
    const api = `${one.agent}/deploy/ai-sdk`
    await one.call('POST', api, { id, messages: [picture] }, key)
    const { json } = await one.call('GET', `${api}/${id}/messages`, undefined, key)
    const path = json.messages[0].parts[0].url.replace(publicUrl, '')
    const sent = async (url: string) => {
      const parts = [{ type: 'file', mediaType: 'image/png', url }]
      return (await one.call('POST', api, { id, messages: [{ role: 'user', parts }] }, key)).status
    }
    const { host } = new URL(one.app.url)
    expect(await sent(ours + path)).toBe(200)
    expect(await sent(`https://${host}${path}`)).toBe(200) // a proxy has ended TLS
    expect(await sent(`https://nobody.invalid${path}`)).toBe(400)
    expect(await sent(`https://nobody.invalid/x${path}`)).toBe(400)
    expect(await sent(`https://${host}.invalid${path}`)).toBe(400)
    expect(await sent(`https://${host}@nobody.invalid${path}`)).toBe(400)
  }
})
