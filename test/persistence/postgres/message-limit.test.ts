/** Contract section 26: a database in trouble is named seldom, also in its own words. */
import { expect } from 'vitest'
import { limitRepeats } from '../../../src/persistence/postgres/embedded/message-limit.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-26.database-words', 'what the embedded server repeats is logged once a minute', () => {
  const lines: string[] = []
  let now = 0
  const warn = limitRepeats(
    (line) => lines.push(line),
    () => now,
  )
  for (; now < 90_000; now += 300) {
    warn(`${now} FATAL: no space left`, 'no space left')
    if (now === 300) warn(`${now} FATAL: another`, 'another')
  }
  expect(lines).toEqual(['0 FATAL: no space left', '300 FATAL: another', '60000 FATAL: no space left'])
})
