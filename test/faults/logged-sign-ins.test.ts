/** Secrets of a sign-in are in no log, even at `trace`, in no trace and no answer (contract sections 27 and 33). */
import { afterAll, expect } from 'vitest'
import { call } from '../http/scene.ts'
import { asks, says } from '../http/tool-scene.ts'
import { startCollector } from '../observability/otlp-collector.ts'
import { createAgent } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { startIdentityProvider } from '../support/network/identity-provider.ts'
import { createBrowser, startSignInServers } from '../support/network/sign-in-servers.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { freePort } from '../support/programs/free-port.ts'
import { startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

const database = await freshDatabase()
const provider = await startIdentityProvider()
const servers = await startSignInServers({ listsOpenly: true })
const up = await startUpstream()
const collector = await startCollector()
afterAll(async () => {
  await collector.close()
  await up.close()
  await servers[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await database.drop()
})
provider.person = { sub: 'u1', preferred_username: 'anna', groups: ['admins'] }

/** The query parameters of an address that are secret. */
const secretsIn = (address: string): string[] => {
  const { searchParams } = new URL(address)
  return ['state', 'code', 'nonce'].flatMap((name) => searchParams.get(name) ?? [])
}

verifies(
  ['contract-27.tokens-hidden', 'contract-33.hidden'],
  'no state, code, verifier or token of either sign-in, whatever becomes of it',
  async () => {
    const port = await freePort()
    await using product = await startProduct({
      direct: true,
      env: {
        ...{
          DATABASE_URL: database.url,
          SECRET_KEY: 'hush',
          PORT: `${port}`,
          LOG_LEVEL: 'trace',
          DRAIN_TIMEOUT_S: '1',
        },
        ...{
          OIDC_ISSUER: provider.url,
          OIDC_CLIENT_ID: 'greenroom',
          OIDC_ROLES: 'groups: admins=admin',
          OIDC_RECHECK_S: '1',
        },
        ...{ OUTBOUND_ALLOW: '127.0.0.1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      },
    })
    const browser = createBrowser(product.url)
    const secrets: string[] = []
    const answers: string[] = []
    const go = async (url: string, init: RequestInit = {}) => {
      const answer = await browser.go(url, init)
      answers.push(answer.text)
      return answer
    }
    /** Goes to the issuer and back, with what the callback is changed to. */
    const signIn = async (change: (callback: string) => string = (callback) => callback) => {
      const begun = await go(`${product.url}/api/auth/oidc/start`)
      const place = begun.headers.get('location') ?? ''
      const callback = provider.consent(place)
      secrets.push(...secretsIn(place), ...secretsIn(callback))
      return await go(change(callback))
    }
    expect((await signIn((callback) => `${callback}&error=denied`)).status).toBe(400)
    expect((await signIn((callback) => callback.replace('code=', 'code=x'))).status).toBe(502)
    provider.spoil = async (claims, sign) => `${await sign(claims)}x`
    expect((await signIn()).status).toBe(502)
    provider.spoil = null
    expect((await signIn()).status).toBe(302)
    const api = async (method: string, path: string, body?: object) => {
      const answer = await call(`${product.url}${path}`, method, body, {
        cookie: Array.from(browser.cookies, ([name, value]) => `${name}=${value}`).join('; '),
      })
      answers.push(answer.text)
      return answer
    }

    const { agentId } = await createAgent(database, { type: 'openai-compatible', baseUrl: up.url })
    const server = { name: 'shop', transport: 'streamable_http', url: servers.url, auth: 'user' }
    const { id } = (await api('POST', '/api/v1/mcp-servers', server)).json
    await api('GET', `/api/v1/mcp-servers/${id}/tools`) // the first use of MCP takes long on a busy machine
    const choice = { mcpServers: [{ mcpServerId: id, toolNames: ['*'] }] }
    expect((await api('PUT', `/api/v1/agents/${agentId}/tools`, choice)).status).toBe(200)
    const sessions = `/api/v1/agents/${agentId}/deploy/sessions`
    const ask = async () => {
      const session = (await api('POST', sessions, { user: 'ann' })).json.id
      up.next(asks('', { name: 'shop__orders', arguments: '{}', id: 'c1' }))
      up.always(says('Done.'))
      const path = `${sessions}/${session}/chat/completions`
      await api('POST', path, { messages: [{ role: 'user', content: 'Hello' }] })
      return `${sessions}/${session}`
    }
    const session = await ask()
    const [entry] = (await api('GET', session)).json.pending
    const authorized = async () => {
      const callback = await browser.authorized(entry.url)
      secrets.push(...secretsIn(callback))
      return callback
    }
    expect((await go((await authorized()).replace('code=', 'code=x'))).status).toBe(400)
    expect((await go(await authorized())).status).toBe(200)
    await expect.poll(async () => (await api('GET', `${session}/messages`)).json.messages.length).toBe(3)
    servers.expireTokens()
    await ask()
    for (const path of [`${session}/messages`, `/api/v1/debug/sessions/${session.split('/').at(-1)}/transitions`])
      expect((await api('GET', path)).status).toBe(200)
    expect((await api('POST', '/api/auth/logout')).status).toBeLessThan(300)
    await product.stop()

    const forms = [...servers.seen.tokens, ...provider.requests.map(({ form }) => form)]
    for (const form of forms)
      for (const name of ['code', 'code_verifier', 'refresh_token']) secrets.push(...form.getAll(name))
    secrets.push(...servers.seen.calls.flatMap(({ authorization }) => authorization?.replace('Bearer ', '') ?? []))
    expect(forms.some((form) => form.get('grant_type') === 'refresh_token')).toBe(true)
    const shown = {
      logged: [...product.stdout, ...product.stderr].join('\n'),
      traced: JSON.stringify(collector.spans),
      answered: answers.join('\n'),
    }
    expect(shown.logged).toContain('"msg":"answered"')
    expect(collector.spans.length).toBeGreaterThan(3)
    const [page = ''] = entry.url.split('/').slice(-1)
    expect([page.length > 40, shown.logged.includes(page), shown.traced.includes(page)]).toEqual([true, false, false])
    for (const [where, text] of Object.entries(shown)) {
      expect(
        secrets.filter((secret) => text.includes(secret)),
        where,
      ).toEqual([])
      // Access tokens, refresh tokens and ID tokens, by their form.
      expect(text, where).not.toMatch(/\b[ar]t-[0-9a-f]{8}|\beyJ[\w-]{20,}\.eyJ/)
    }
  },
)
