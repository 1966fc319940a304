/** One signal of several. */
import { expect, test } from 'vitest'
import { firstAbort } from '../../src/async/first-abort.ts'

test('aborts once, with the reason of the first that does', () => {
  const [one, two] = [new AbortController(), new AbortController()]
  const signal = firstAbort(one.signal, two.signal)
  const heard: unknown[] = []
  signal.addEventListener('abort', () => heard.push(signal.reason))
  expect(signal.aborted).toBe(false)
  two.abort('two')
  one.abort('one')
  expect(heard).toEqual(['two'])
})

test('is aborted from the start where one of them is', () => {
  expect(firstAbort(new AbortController().signal, AbortSignal.abort('before'))).toMatchObject({
    aborted: true,
    reason: 'before',
  })
})
