/** The role and the name that claims give (contract section 33). Pure. */
import { expect } from 'vitest'
import { nameOf, readRoleRules, roleOf } from '../../../src/features/oidc/claims.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-33.claims', 'of several roles the highest counts, whatever their order', () => {
  for (const text of ['g: a=editor, b=admin, *=viewer', 'g: *=viewer, b=admin, a=editor']) {
    const role = (g: unknown) => roleOf(readRoleRules(text), { g })
    expect([role(['a', 'b']), role(['b', 'a']), role('a'), role(['c']), role(7)]).toEqual([
      ...['admin', 'admin', 'editor'],
      ...['viewer', 'viewer'],
    ])
  }
  // The same value may stand twice.
  expect(roleOf(readRoleRules('g: a=admin, a=viewer'), { g: 'a' })).toBe('admin')
})

verifies('contract-33.claims', 'the name is preferred_username, else email, else sub', () => {
  expect(nameOf({ sub: 's', email: 'e@a.test', preferred_username: 'ann' })).toBe('ann')
  expect(nameOf({ sub: 's', email: 'e@a.test', preferred_username: '' })).toBe('e@a.test')
  expect(nameOf({ sub: 's', email: 5, preferred_username: null })).toBe('s')
  expect(nameOf({ sub: 'a\0b\ud83d' })).toBe('a\ufffdb\ufffd')
})
