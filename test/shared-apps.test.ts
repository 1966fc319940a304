/** The apps that files of a process share: their leases and timers would be lost with a clock that a file fakes. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filesOf, quickFiles } from './support/quick-files.ts'

/** Dates alone are nobody's timers. */
const fakesClocks = /useFakeTimers\((?!\{ toFake: \['Date'\])|spyOn\(performance/

test('a file that fakes clocks in a process with shared apps ends these first', () => {
  const quick = new Set(quickFiles())
  const fakes = [...filesOf('short'), ...filesOf('long')].filter(
    (file) => !quick.has(file) && fakesClocks.test(readFileSync(file, 'utf8')),
  )
  expect(fakes.length).toBeGreaterThan(0)
  expect(fakes.filter((file) => !readFileSync(file, 'utf8').includes('endSharedApps'))).toEqual([])
})
