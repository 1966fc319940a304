/** The rules for settings together, and values that follow from them. */
import { isIP } from 'node:net'
import type { Settings } from './settings.ts'

/** An invalid setting, which prevents the start. The message is one line that begins with the setting's name. */
export class SettingsError extends Error {
  override name = 'SettingsError'
}

/** Throws SettingsError for settings that do not fit each other. `isGiven`: whether a setting has a value of its own. */
export function checkTogether(settings: Settings, isGiven: (name: string) => boolean): void {
  const { metricsPort, port } = settings
  checkSignIn(settings, isGiven)
  if (settings.cacheProvider && !settings.secretKeys) {
    throw new SettingsError('SECRET_KEY: required when CACHE_PROVIDER is set, the same for every instance.')
  }
  if (settings.workers > 1 && !settings.databaseUrl) {
    throw new SettingsError('WORKERS: more than one needs DATABASE_URL; the embedded database serves one process.')
  }
  if (settings.publicApiKeyPrevious && !settings.publicApiKey) {
    throw new SettingsError('PUBLIC_API_KEY_PREVIOUS: needs PUBLIC_API_KEY, without which the deploy API is open.')
  }
  if (metricsPort && metricsPort === port) throw new SettingsError('METRICS_PORT: must differ from PORT.')
}

const ofSignIn = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES', 'OIDC_SCOPES', 'OIDC_RECHECK_S']

/** Throws for a sign-in by OpenID Connect of which a part is missing, or that nothing switches on. */
function checkSignIn(settings: Settings, isGiven: (name: string) => boolean): void {
  const { oidcIssuer, oidcClientId, oidcRoles } = settings
  if (oidcIssuer === null) {
    const given = ofSignIn.find(isGiven)
    if (given) throw new SettingsError(`${given}: needs OIDC_ISSUER, without which nobody signs in there.`)
    return
  }
  if (oidcClientId === null) throw new SettingsError('OIDC_CLIENT_ID: required when OIDC_ISSUER is set.')
  if (oidcRoles === null) throw new SettingsError('OIDC_ROLES: required when OIDC_ISSUER is set.')
  if (publicUrlOf(settings) === null) throw new SettingsError('PUBLIC_URL: required when OIDC_ISSUER is set.')
}

/** Returns the address under which browsers reach the server. Null where that is not known. `port`: the one listened on. */
export const publicUrlOf = ({ publicUrl, host, port }: Pick<Settings, 'publicUrl' | 'host' | 'port'>): string | null =>
  publicUrl ?? (isLoopback(host) ? `http://127.0.0.1:${port}` : null)

/** Reports whether only this machine can reach the server. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Lists warnings for the log: what anyone on the network can do because a credential is not set. */
export function startupWarnings({ host, port, publicApiKey, authCredentials }: Settings): string[] {
  if (isLoopback(host)) return []
  const reach = `the server listens on ${host}, so anyone who reaches port ${port}`
  return [
    ...(publicApiKey ? [] : [`PUBLIC_API_KEY is not set: ${reach} can use the deploy API.`]),
    ...(authCredentials ? [] : [`AUTH_CREDENTIALS is not set: ${reach} can change and read everything.`]),
  ]
}

/** Secrets that are shorter can be guessed by trying. */
const SHORTEST_SECRET = 16

/** Lists a warning for each secret that can be guessed. */
export function shortSecrets({ secretKeys, publicApiKey, publicApiKeyPrevious }: Settings): string[] {
  const given: Readonly<Record<string, readonly (string | null)[]>> = {
    SECRET_KEY: secretKeys ?? [],
    PUBLIC_API_KEY: [publicApiKey],
    PUBLIC_API_KEY_PREVIOUS: [publicApiKeyPrevious],
  }
  const isShort = (value: string | null) => value !== null && value.length < SHORTEST_SECRET
  return Object.entries(given)
    .filter(([, values]) => values.some(isShort))
    .map(
      ([name]) =>
        `${name} has less than ${SHORTEST_SECRET} characters: \`openssl rand -hex 32\` prints one that nobody guesses.`,
    )
}
