/** Contract section 23: a place is given back however its reply ends. */
import { expect } from 'vitest'
import { type ReplyObserver, unobserved } from '../../../../src/actors/ports/observer.ts'
import { inItsPlaces } from '../../../../src/features/limits/routes/held-place.ts'
import { HttpError } from '../../../../src/http/server/http-error.ts'
import { verifies } from '../../../verifies.ts'

function scene(take: () => Promise<void> = async () => {}) {
  const told: string[] = []
  const observer: ReplyObserver = {
    ...unobserved,
    on: (event) => void told.push(event.type === 'ended' ? `ended ${event.outcome}` : event.type),
  }
  const counted = async () => void told.push('counted')
  const run = <T>(work: (own: ReplyObserver) => Promise<T>) => inItsPlaces({ take, counted }, () => observer, work)
  return { told, run }
}

const usage = { promptTokens: 1, completionTokens: 1, estimated: false }

verifies('contract-23.limits-places', 'work that fails before it has told its end gives the place back', async () => {
  const { told, run } = scene()
  await expect(run(() => Promise.reject(new Error('no toolbox')))).rejects.toThrow('no toolbox')
  expect(told).toEqual(['ended internal', 'counted'])
})

verifies('contract-23.limits-places', 'an end is told once, whatever fails behind it', async () => {
  const { told, run } = scene()
  const work = async (observer: ReplyObserver) => {
    observer.on({ type: 'ended', outcome: 'stop', usage, error: null })
    throw new HttpError(500, 'behind it')
  }
  await expect(run(work)).rejects.toThrow('behind it')
  expect(told).toEqual(['ended stop'])
})

verifies(
  'contract-23.limits-places',
  'a lost answer to the taking gives back, a refusal has taken nothing',
  async () => {
    const lost = scene(() => Promise.reject(new Error('the connection was cut')))
    await expect(lost.run(async () => 1)).rejects.toThrow('cut')
    expect(lost.told).toEqual(['ended not_stored', 'counted'])
    const refused = scene(() => Promise.reject(new HttpError(429, 'too many')))
    await expect(refused.run(async () => 1)).rejects.toThrow('too many')
    expect(refused.told).toEqual([])
  },
)
