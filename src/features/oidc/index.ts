/** The door of oidc: sign-in at an identity provider. */
export { type OidcSignIn, openOidc } from './open-oidc.ts'
