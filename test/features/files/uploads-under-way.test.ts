/** How many files arrive at a time (contract section 32). */
import { expect } from 'vitest'
import { createUploadSlots } from '../../../src/features/files/routes/uploads-under-way.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-32.files-size', '32 of an instance and 4 of a user arrive at a time; others are 503', () => {
  const slots = createUploadSlots()
  const ofAnna = Array.from({ length: 4 }, () => slots.take('anna'))
  expect(() => slots.take('anna')).toThrow(expect.objectContaining({ status: 503, headers: { 'retry-after': '2' } }))
  const others = Array.from({ length: 28 }, () => slots.take(null))
  for (const user of [null, 'bert']) expect(() => slots.take(user)).toThrow('Too many files')
  for (const release of [...ofAnna, ...others]) release()
  expect(() => Array.from({ length: 4 }, () => slots.take('anna'))).not.toThrow()
})
