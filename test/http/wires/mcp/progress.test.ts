/** Contract section 30: the numbers that a client is told while a reply runs. */
import { expect } from 'vitest'
import { nextProgress } from '../../../../src/http/wires/mcp/progress.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-30.face-progress', 'numbers rise, also where nothing new is stored for ten seconds', () => {
  expect(nextProgress(0, 5, 1000)).toBe(5)
  expect(nextProgress(5, 5, 1000)).toBeNull()
  expect(nextProgress(5, 5, 9500)).toBeGreaterThan(5)
  expect(nextProgress(5.001, 6, 1000)).toBe(6)
  expect(nextProgress(5.001, 5, 1000)).toBeNull()
})
