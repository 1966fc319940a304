/** What tells calls of one tool apart, in the list of what waits. */
import { expect, test } from 'vitest'
import { givenTo } from '../../ui/src/waiting/given.ts'

const given = (...texts: string[]) => givenTo(texts.map((text) => ({ arguments: text })))

test('calls are told by the values of their arguments', () => {
  expect(given('{"city":"Paris","days":3}', '{"to":{"name":"Ann"}}')).toBe('Paris · 3 · {"name":"Ann"}')
  expect(given('{}')).toBe('')
})

test('what a model wrote instead of an object is shown as it is', () => {
  expect(given('{"city":', '["a"]', '7')).toBe('{"city": · ["a"] · 7')
})
