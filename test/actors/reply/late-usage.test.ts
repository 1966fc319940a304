/** Tokens that are counted elsewhere while the reply's session goes on, or goes (contract sections 3, 4 and 8). */
import { expect, test } from 'vitest'
import { type Observer, unobserved } from '../../../src/actors/ports/observer.ts'
import { verifies } from '../../verifies.ts'
import { end, heldModel, openScene, say } from '../scene.ts'
import { turn } from '../turn.ts'

/** A tokenizer that answers when the test does, and what the observer was told. */
function openCounting() {
  const { model, calls } = heldModel()
  const counts: { texts: readonly string[]; resolve(counts: number[]): void }[] = []
  const told: unknown[] = []
  const countTokens = (texts: readonly string[]) => {
    const { promise, resolve } = Promise.withResolvers<number[]>()
    counts.push({ texts, resolve })
    return promise
  }
  const observer: Observer = {
    begin: () => ({
      ...unobserved,
      on: (event) => {
        if (event.type === 'ended') told.push({ outcome: event.outcome, usage: event.usage })
      },
    }),
  }
  const scene = openScene({ model: { ...model, countTokens }, observer })
  /** Every text is as long as it is. */
  const answer = async () => {
    for (const { texts, resolve } of counts) resolve(texts.map(({ length }) => length))
    await turn()
  }
  return { ...scene, calls, counts, told, answer }
}

verifies('contract-4.cancel', 'a cancelled reply is stored when its tokens are counted, with the counts', async () => {
  const scene = openCounting()
  const first = await scene.start()
  await scene.calls[0]?.say(say('half'))
  const cancelled = scene.host.cancel('s')
  await expect.poll(() => scene.counts.length).toBe(1)
  expect(scene.store.rows()[0]?.outcome).toBeNull()
  // A lease may be shorter than a count: it is not the store that is waited for.
  scene.host.tick()
  await scene.answer()
  await Promise.all([cancelled, first.done])
  const usage = { promptTokens: 2, completionTokens: 4, estimated: true }
  expect(scene.store.rows()[0]?.outcome).toEqual({ type: 'finished', reason: 'cancelled', usage })
  expect(scene.told).toEqual([{ outcome: 'cancelled', usage }])
})

verifies('contract-8.usage', 'a deleted session ends at once, its usage is told once, when it is counted', async () => {
  const scene = openCounting()
  const first = await scene.start()
  await scene.calls[0]?.say(say('half'))
  scene.store.remove('s')
  scene.host.forget(['s'], [])
  await first.done
  expect([scene.running(), scene.host.owned.running().size, scene.told]).toEqual([0, 0, []])
  scene.host.forget(['s'], [])
  await scene.answer()
  const usage = { promptTokens: 2, completionTokens: 4, estimated: true }
  expect(scene.told).toEqual([{ outcome: 'session_deleted', usage }])
  expect(scene.errors).toEqual([])
})

verifies('contract-8.usage', 'a session deleted while its reply is counted: told once', async () => {
  const scene = openCounting()
  const first = await scene.start()
  await scene.calls[0]?.say(say('half'))
  scene.host.owned.apply({ kind: 'cancel', sessionId: 's', replyId: scene.store.rows()[0]?.info.id ?? '' })
  await expect.poll(() => scene.counts.length).toBe(1)
  scene.store.remove('s')
  scene.host.forget(['s'], [])
  await scene.answer()
  await first.done
  expect(scene.told).toMatchObject([{ outcome: 'session_deleted', usage: { completionTokens: 4 } }])
  expect([scene.running(), scene.errors]).toEqual([0, []])
})

test('a reply whose provider reports its usage asks no tokenizer', async () => {
  const scene = openCounting()
  const first = await scene.start()
  await scene.calls[0]?.say(say('all'), end)
  await first.done
  expect(scene.counts).toEqual([])
  expect(scene.told).toEqual([{ outcome: 'stop', usage: { promptTokens: 1, completionTokens: 1, estimated: false } }])
})
