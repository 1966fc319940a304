/** The words for the sender of a message that begins no reply. */
import { expect, test } from 'vitest'
import { createLeaseGate } from '../../../src/actors/generate/endings.ts'
import { message, openScene } from '../scene.ts'

test('what was refused without a lease is not told that too many run, though there is a lease by then', async () => {
  let validUntil = 0
  const { store } = openScene()
  const { host } = openScene({
    gate: createLeaseGate(() => validUntil),
    journal: {
      ...store.journal,
      async admit() {
        validUntil = Number.POSITIVE_INFINITY
        return { outcome: 'refused' }
      },
    },
  })
  expect(await host.send(message())).toEqual({ outcome: 'unavailable' })
})
