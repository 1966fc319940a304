/** Numbers that JavaScript would change (contract section 35). */
import { describe, expect, test } from 'vitest'
import { exactObject, mayChange, parseExact, parseNoted, writeExact } from '../../src/untrusted/exact-json.ts'
import { parseExactYaml } from '../../src/untrusted/exact-yaml.ts'
import { verifies } from '../verifies.ts'

const numbers = [
  '1917043659912705297',
  '-1917043659912705297',
  '12345678901234567890123',
  '1.0',
  '1.50',
  '10.00',
  '0.1234567890123456789',
  '1234567890.12345678',
  '0.0000001',
  '1e2',
  '1E+2',
  '1e400',
  '-0',
  '-0.0',
  '7',
  '0.7',
]

describe('a number is written as it was read', () => {
  for (const number of numbers) {
    verifies('contract-35.digits', number, () => {
      const texts = [`{"a":${number}}`, `[${number},{"b":[${number}]}]`, `{"a":"1.0","b":${number},"c":${number}}`]
      for (const text of texts) {
        expect(JSON.stringify(parseExact(text))).toBe(text)
        expect(writeExact(parseNoted(text))).toBe(text)
        expect(parseNoted(text)).toEqual(JSON.parse(text))
      }
      expect(JSON.stringify(parseExact(number))).toBe(number)
    })
  }
})

test('a value that was changed since is written as it is', () => {
  const value = parseNoted('{"a":1.0,"b":1.0}')
  expect(writeExact(Object.assign(Object(value), { a: 'x' }))).toBe('{"a":"x","b":1.0}')
})

test('numbers alone count, not what strings hold', () => {
  for (const text of ['"1917043659912705297"', '"a1e5"', '"\\" 1.0"', '"\\\\"', '"-0', '"5.0]"'])
    expect([text, mayChange(`{"a":${text},"b":[5,-7,0.5,1e+21]}`)]).toEqual([text, false])
  for (const text of ['"\\\\", "b":1.0', '"\\"", "b":-0', '"", "b":[10000000000000001]'])
    expect([text, mayChange(`{"a":${text},"c":"1.0"}`)]).toEqual([text, true])
})

test('noted digits become raw numbers; an object without any stays the same one', () => {
  const plain = Object(parseNoted('{"a":[1,{"b":2}]}'))
  expect(exactObject(plain)).toBe(plain)
  expect(JSON.stringify(exactObject(Object(parseNoted('{"a":[1,{"b":1.0}]}'))))).toBe('{"a":[1,{"b":1.0}]}')
})

verifies('contract-35.digits', 'numbers of YAML, where they have the form of JSON’s', () => {
  const text = 'a: 1917043659912705297\nb: [1.0, {c: -0}]\nd: 0x1F\ne: "1.0"\nf: 7\n'
  expect(JSON.stringify(parseExactYaml(text))).toBe(
    '{"a":1917043659912705297,"b":[1.0,{"c":-0}],"d":31,"e":"1.0","f":7}',
  )
  expect(() => parseExactYaml('a: [')).toThrow()
})
