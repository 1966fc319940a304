/** Opens the sign-in at an identity provider, as the settings describe it. */
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import { createIssuer, type Issuer, type IssuerFetch } from './issuer.ts'
import { type SignInCookie, signInCookie } from './routes/cookie.ts'
import { createSignIns, type OidcSettings, type SignIns } from './sign-in.ts'

export interface OidcSignIn {
  issuer: Issuer
  signIns: SignIns
  cookie: SignInCookie
  settings: OidcSettings
}

export function openOidc(
  settings: OidcSettings,
  { sql, secrets, fetch }: { sql: Sql; secrets: Secrets; fetch: IssuerFetch },
): OidcSignIn {
  const redirectUri = () => `${settings.publicUrl()}/api/auth/oidc/callback`
  const issuer = createIssuer({ ...settings, redirectUri, fetch })
  return {
    issuer,
    signIns: createSignIns({ sql, secrets, issuer, settings }),
    cookie: signInCookie(secrets, () => new URL(settings.publicUrl())),
    settings,
  }
}
