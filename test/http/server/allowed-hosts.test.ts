/** Contract section 1, ALLOWED_HOSTS: a web page must not reach an open server through a name of its own. */
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'

/** With node:http, which lets a test say any `Host`. */
async function ask(app: TestApp, path: string, host: string) {
  const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    request(app.url + path, { headers: { host } }, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) })
    })
      .on('error', reject)
      .end()
  })
  return { status: answer.status, json: JSON.parse(answer.body) }
}

verifies(
  'contract-1.allowed-hosts',
  'foreign names get 403 that names the setting, in the surface’s own format',
  async () => {
    await using app = await startTestApp({ settings: { ALLOWED_HOSTS: 'chat.example.com' } })
    const { agentId } = await createAgent(app)
    const deploy = `/api/v1/agents/${agentId}/deploy/sessions`
    for (const host of ['evil.example', 'evil.example:8080', 'localhost.evil.example']) {
      const managed = await ask(app, '/api/v1/agents', host)
      expect(managed).toEqual({ status: 403, json: { message: expect.stringContaining('ALLOWED_HOSTS') } })
      const deployed = await ask(app, deploy, host)
      expect(deployed).toEqual({ status: 403, json: { error: expect.stringContaining('ALLOWED_HOSTS') } })
    }
    for (const host of [
      'localhost',
      'localhost:1',
      '127.0.0.1',
      '[::1]:8080',
      '10.1.2.3',
      'chat.example.com',
      'CHAT.example.com:80',
    ]) {
      expect((await ask(app, '/api/v1/agents', host)).status, host).toBe(200)
      expect((await ask(app, deploy, host)).status, host).toBe(200)
    }
  },
)

verifies('contract-1.allowed-hosts', 'a scope that asks for a credential needs no such rule', async () => {
  await using app = await startTestApp({ settings: { PUBLIC_API_KEY: 'key-of-the-deploy-api' } })
  const { agentId } = await createAgent(app)
  expect((await ask(app, `/api/v1/agents/${agentId}/deploy/sessions`, 'evil.example')).status).toBe(401)
  expect((await ask(app, '/api/v1/agents', 'evil.example')).status).toBe(403)
})
