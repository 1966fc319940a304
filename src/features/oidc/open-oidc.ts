/** Opens the sign-in at an identity provider, as the settings describe it. */
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import type { RoleRules } from './claims.ts'
import { createIssuer, type Issuer, type IssuerFetch } from './issuer.ts'
import { type SignInCookie, signInCookie } from './routes/cookie.ts'
import { createSignIns, type OidcSettings, type SignIns } from './sign-in.ts'

export interface OidcSignIn {
  issuer: Issuer
  signIns: SignIns
  cookie: SignInCookie
  settings: OidcSettings
}

/** The settings of the sign-in, as they are read. */
interface Given {
  oidcIssuer: string | null
  oidcClientId: string | null
  oidcClientSecret: string | null
  oidcRoles: { text: string; rules: RoleRules } | null
  oidcScopes: string
  oidcRecheckS: number
}

/** Returns null where it is not set up. */
export function openOidc(
  given: Given,
  { publicUrl, fetch, ...stored }: { sql: Sql; secrets: Secrets; fetch: IssuerFetch; publicUrl(): string | null },
): OidcSignIn | null {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles, oidcScopes, oidcRecheckS } = given
  if (oidcIssuer === null || oidcClientId === null || oidcRoles === null) return null
  const settings: OidcSettings = {
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
  const redirectUri = () => `${settings.publicUrl()}/api/auth/oidc/callback`
  const issuer = createIssuer({ ...settings, redirectUri, fetch })
  return {
    issuer,
    signIns: createSignIns({ ...stored, issuer, settings }),
    cookie: signInCookie(stored.secrets, () => new URL(settings.publicUrl())),
    settings,
  }
}
