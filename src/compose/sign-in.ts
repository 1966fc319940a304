/** Opens the sign-in by OpenID Connect, where it is set up. */
import { type OidcSignIn, openOidc } from '../features/oidc/index.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import type { Secrets } from '../persistence/records/access/secrets.ts'
import type { Settings } from '../settings.ts'
import type { Outbound } from '../tools/outbound/outbound.ts'
import { fetchShort } from '../tools/outbound/short-answer.ts'

export function openSignIn({
  settings,
  publicUrl,
  outbound,
  ...stored
}: {
  settings: Settings
  publicUrl(): string | null
  outbound: Pick<Outbound, 'fetch'>
  sql: Sql
  secrets: Secrets
}): OidcSignIn | null {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles, oidcScopes, oidcRecheckS } = settings
  if (oidcIssuer === null || oidcClientId === null || oidcRoles === null) return null
  const options = {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: oidcClientSecret,
    rolesText: oidcRoles.text,
    roles: oidcRoles.rules,
    scopes: oidcScopes,
    recheckS: oidcRecheckS,
    // The settings are refused where there is none.
    publicUrl: () => publicUrl() ?? '',
  }
  return openOidc(options, { ...stored, fetch: (url, call) => fetchShort(outbound, url, call) })
}
