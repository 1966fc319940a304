/** Two instances where people sign in at an identity provider, and browsers that do so. */
import { startIdentityProvider } from '../../support/network/identity-provider.ts'
import { openFrontDoor } from '../users/access/front-door-scene.ts'

export const ROLES = 'groups: admins=admin, writers=editor, readers=viewer'

export async function openSignIn(settings: Record<string, string> = {}) {
  const provider = await startIdentityProvider()
  const door = await openFrontDoor({
    settings: {
      AUTH_CREDENTIALS: 'root:secret-word',
      OIDC_ISSUER: provider.url,
      OIDC_CLIENT_ID: 'greenroom',
      OIDC_CLIENT_SECRET: 'a secret of the client',
      OIDC_ROLES: ROLES,
      PUBLIC_URL: 'http://127.0.0.1:1',
      ...settings,
    },
  })
  const browser = (url = door.here.url) => {
    const jar = new Map<string, string>()
    const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const ask = async (path: string, init: RequestInit & { at?: string } = {}) => {
      const headers = { ...(jar.size > 0 && { cookie: cookie() }), ...init.headers }
      const response = await fetch(`${init.at ?? url}${path}`, { redirect: 'manual', ...init, headers })
      for (const one of response.headers.getSetCookie()) {
        const [name = '', value = ''] = (one.split(';', 1)[0] ?? '').split('=')
        if (value === '') jar.delete(name)
        else jar.set(name, value)
      }
      const text = await response.text()
      return { status: response.status, text, headers: response.headers, json: () => JSON.parse(text) }
    }
    const start = async (to = '/agents') => await ask(`/api/auth/oidc/start?to=${encodeURIComponent(to)}`)
    /** Goes to the callback with the parameters that the provider gave. */
    const back = async (begun: { headers: Headers }, change: (query: URLSearchParams) => void = () => {}) => {
      const callback = new URL(provider.consent(begun.headers.get('location') ?? ''))
      change(callback.searchParams)
      return await ask(`${callback.pathname}?${callback.searchParams}`)
    }
    return { ask, start, back, jar, cookie, signIn: async (to?: string) => await back(await start(to)) }
  }
  /** The newest entries of the audit. */
  const entries = async (limit = 5): Promise<Record<string, unknown>[]> => [
    ...(await door.sql<Record<string, unknown>[]>`
      select actor, actor_kind, action, kind, record_id, record_name, changes
        from audit_entries order by committed desc limit ${limit}`),
  ]
  return {
    ...door,
    provider,
    browser,
    entries,
    async close() {
      await door.close()
      await provider[Symbol.asyncDispose]()
    },
  }
}
