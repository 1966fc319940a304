import { expect } from 'vitest'
import { changedSecret, changesBetween, headerChange } from '../../../../src/features/audit/routes/changes.ts'
import { hiddenValue } from '../../../../src/persistence/records/tools/secret-headers.ts'
import { verifies } from '../../../verifies.ts'

verifies(
  'contract-35.audit-length',
  'an entry shows 2,000 characters of any value, with a mark where it is cut',
  () => {
    const many = Array.from({ length: 10_000 }, (_, n) => n)
    const long: Record<string, unknown> = {
      text: 'x'.repeat(3000),
      texts: many.map((n) => `item ${n}`),
      numbers: many,
      lists: many.map(() => []),
      members: Object.fromEntries(many.map((n) => [`name${n}`, {}])),
      name: { ['x'.repeat(3000)]: 1 },
      deep: JSON.parse('['.repeat(3000) + ']'.repeat(3000)),
    }
    const shown = Object.values(changesBetween(long, null)).map(({ from }) => from)
    expect(shown).toHaveLength(Object.keys(long).length)
    const headers = headerChange({}, { 'X-Api-Key': 'new', Note: 'x'.repeat(3000) }).headers?.to
    const isCut = (value: unknown) => typeof value === 'string' && /^.{2000}…$/.test(value)
    expect([...shown, headers].map(isCut)).toEqual([...shown, headers].map(() => true))
  },
)

verifies('contract-35.audit-length', 'a value of 2,000 characters is shown as it is', () => {
  const whole = { text: 'x'.repeat(2000), list: ['x'.repeat(1996)], object: { a: [1, { b: null }] } }
  expect(Object.entries(changesBetween(null, whole))).toEqual(
    Object.entries(whole).map(([name, to]) => [name, { from: null, to }]),
  )
})

verifies('contract-23.audit', 'headers that are sent back as they were read leave no entry', () => {
  const read = { 'X-Api-Key': hiddenValue, Note: 'plain' }
  expect(headerChange(read, read)).toEqual({})
  expect(Object.keys(headerChange(read, { ...read, Authorization: 'Bearer new' }))).toEqual(['headers'])
})

verifies(
  'contract-23.audit',
  'what a record is known by is no change, and a field that is absent reads as null',
  () => {
    const before = { id: '1', name: 'a', lastUsedAt: 'x', updatedAt: 'x', gone: null }
    const after = { id: '1', name: 'b', lastUsedAt: 'y', updatedAt: 'y', added: 1 }
    expect(changesBetween(before, after)).toEqual({ name: { from: 'a', to: 'b' }, added: { from: null, to: 1 } })
    expect(changesBetween(null, { id: '1', name: 'a' })).toEqual({ name: { from: null, to: 'a' } })
    expect(changesBetween({ id: '1', name: 'a' }, null)).toEqual({ name: { from: 'a', to: null } })
  },
)

verifies('contract-23.audit', 'of a secret an entry says whether it was there, and is', () => {
  const said = [changedSecret(false, true), changedSecret(true, true), changedSecret(true, false)]
  expect(said).toEqual([
    { from: null, to: hiddenValue },
    { from: hiddenValue, to: hiddenValue },
    { from: hiddenValue, to: null },
  ])
})
