/** Ids of messages and sessions. */
import { expect, test } from 'vitest'
import { newId } from '../../src/actors/reply/new-id.ts'

test('is a UUID of version 7 that begins with the time, and none is like another', () => {
  const before = Date.now()
  const ids = Array.from({ length: 2000 }, newId)
  const after = Date.now()
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length)
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(at >= before && at <= after).toBe(true)
  }
})
