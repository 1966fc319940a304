/** Contract section 8: the pages, the compiled contract, and what a browser without a login is shown. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const open = await openScene()
const closed = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret-word', PUBLIC_API_KEY: 'k' } })
afterAll(() => Promise.all([open.close(), closed.close()]))

verifies('contract-8.docs', '/openapi.json is the compiled contract, /docs a page to read it', async () => {
  const contract = await open.call('GET', '/openapi.json')
  expect([contract.status, contract.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(contract.json.openapi).toMatch(/^3\.1/)
  expect(Object.keys(contract.json.paths)).toContain('/api/v1/agents/{agent_id}/deploy/chat/completions')
  const docs = await open.call('GET', '/docs')
  const page = docs.status === 200 ? docs : await open.call('GET', docs.headers.get('location') ?? '')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
})

verifies('contract-8.docs', 'where login is required /docs leads to it and back, data is 401 {message}', async () => {
  for (const path of ['/docs', '/docs/']) {
    const docs = await closed.call('GET', path)
    expect([path, docs.status, docs.headers.get('location')]).toEqual([path, 303, '/?next=/docs'])
  }
  for (const path of ['/openapi.json', '/docs/json', '/api/v1/debug/chart', '/api/v1/agents']) {
    const { status, json } = await closed.call('GET', path)
    expect([path, status, json]).toEqual([path, 401, { message: expect.any(String) }])
  }
  const login = await closed.call('POST', '/api/auth/login', { username: 'anna', password: 'secret-word' })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(cookie).toMatch(/^greenroom_session=/)
  for (const path of ['/openapi.json', '/docs', '/api/v1/debug/chart']) {
    expect([path, (await closed.call('GET', path, undefined, { cookie })).status]).toEqual([path, 200])
  }
})

verifies('contract-8.docs', 'unknown pages are 404, and no CORS header is ever sent', async () => {
  const origin = { origin: 'https://elsewhere.example' }
  for (const path of [
    '/nothing',
    '/docs/nothing',
    '/',
    '/openapi.json',
    '/api/v1/agents',
    `${open.agent}/deploy/sessions`,
  ]) {
    const { status, headers } = await open.call('GET', path, undefined, origin)
    expect([path, status]).toEqual([path, path.endsWith('nothing') ? 404 : 200])
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})
