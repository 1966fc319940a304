import { expect, test } from 'vitest'
import {
  findCredential,
  hashPassword,
  readHash,
  verifyPassword,
} from '../../../../src/features/users/login/password.ts'

test('contract section 1: a printed hash has six parts, holds no comma, and fits its password only', async () => {
  const hash = await hashPassword('pa:ss,wörd')
  expect(hash).toMatch(/^scrypt:\d+:\d+:\d+:[\w-]+:[\w-]+$/)
  expect(await verifyPassword(hash, 'pa:ss,wörd')).toBe(true)
  expect(await verifyPassword(hash, 'pa:ss,word')).toBe(false)
  expect(await hashPassword('pa:ss,wörd')).not.toBe(hash)
})

test('the hash is scrypt as RFC 7914 defines it (section 12, third vector)', async () => {
  const hex =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
    'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887'
  const [salt, hash] = [Buffer.from('SodiumChloride'), Buffer.from(hex, 'hex')].map((part) =>
    part.toString('base64url'),
  )
  expect(await verifyPassword(`scrypt:16384:8:1:${salt}:${hash}`, 'pleaseletmein')).toBe(true)
  expect(await verifyPassword(`scrypt:16384:8:1:${salt}:${hash}`, 'pleaseletmeout')).toBe(false)
})

test('plain passwords fit exactly', async () => {
  expect(await verifyPassword('secret', 'secret')).toBe(true)
  expect(await verifyPassword('secret', 'secret ')).toBe(false)
  expect(await verifyPassword('secret', '')).toBe(false)
})

const salt = 'AAAAAAAAAAAAAAAAAAAAAA'
const sum = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
test.each([
  ['too much memory', `scrypt:1048576:8:1:${salt}:${sum}`],
  ['too much memory by r', `scrypt:65536:64:1:${salt}:${sum}`],
  ['too much time', `scrypt:16384:8:100:${salt}:${sum}`],
  ['N no power of two', `scrypt:16385:8:1:${salt}:${sum}`],
  ['N too small', `scrypt:2:8:1:${salt}:${sum}`],
  ['r of zero', `scrypt:16384:0:1:${salt}:${sum}`],
  ['no hash', `scrypt:16384:8:1:${salt}:`],
  ['a part too many', `scrypt:16384:8:1:${salt}:${sum}:x`],
])('a hash with %s is refused', (_, hash) => {
  expect(() => readHash(hash)).toThrow(/^the hash/)
})

test('a name with another password, or no such name, finds nobody', async () => {
  const logins = [
    { username: 'ann', password: await hashPassword('one') },
    { username: 'bob', password: 'two' },
  ]
  expect(await findCredential(logins, 'ann', 'one')).toBe(logins[0])
  expect(await findCredential(logins, 'bob', 'two')).toBe(logins[1])
  expect(await findCredential(logins, 'ann', 'two')).toBeNull()
  expect(await findCredential(logins, 'bob', 'one')).toBeNull()
  expect(await findCredential(logins, 'eve', '')).toBeNull()
  expect(await findCredential([], 'eve', 'one')).toBeNull()
})
