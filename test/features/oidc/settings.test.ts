/** Settings of the sign-in (contract section 33). */
import { expect } from 'vitest'
import { readSettings } from '../../../src/settings.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-33.settings', 'a sign-in is set up whole or not at all, and says what is wrong', () => {
  const issuer = { OIDC_ISSUER: 'https://id.example' }
  const whole = { ...issuer, OIDC_CLIENT_ID: 'c', OIDC_ROLES: 'https://x.example/roles: a=b=admin, *=viewer' }
  expect(readSettings(whole).oidcRoles?.rules).toEqual({
    claim: 'https://x.example/roles',
    values: [
      { value: 'a=b', role: 'admin' },
      { value: '*', role: 'viewer' },
    ],
  })
  const alone = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_SCOPES', 'OIDC_RECHECK_S', 'OIDC_ROLES']
  const values = { ...whole, OIDC_CLIENT_SECRET: 's', OIDC_SCOPES: 'openid', OIDC_RECHECK_S: '5' }
  for (const name of alone) {
    const given = Object.fromEntries(Object.entries(values).filter(([one]) => one === name))
    expect(() => readSettings(given)).toThrow(`${name}: needs OIDC_ISSUER`)
  }
  const wrong: [string, Record<string, string>][] = [
    ['OIDC_CLIENT_ID', { OIDC_CLIENT_ID: ' ' }],
    ['OIDC_ROLES', { OIDC_ROLES: '' }],
    ['OIDC_ROLES', { OIDC_ROLES: 'groups:a=admin' }],
    ['OIDC_ROLES', { OIDC_ROLES: 'groups: a=root' }],
    ...[
      'http://id.example',
      'https://id.example/?a=b',
      'https://id.example/#a',
      'https://a:b@id.example',
      'id.example',
    ].map((OIDC_ISSUER): [string, Record<string, string>] => ['OIDC_ISSUER', { OIDC_ISSUER }]),
    ['OIDC_SCOPES', { OIDC_SCOPES: 'openid2 profile' }],
    ['OIDC_RECHECK_S', { OIDC_RECHECK_S: '3601' }],
    ['PUBLIC_URL', { HOST: '0.0.0.0' }],
  ]
  for (const [name, change] of wrong)
    expect(() => readSettings({ ...whole, ...change })).toThrow(new RegExp(`^${name}: `))
  expect(readSettings({ ...whole, OIDC_ISSUER: 'http://localhost:9000' }).oidcIssuer).toMatch(/^http:/)
})
