/** Contract section 4 over real HTTP, for any deltas a provider may send: every read of a reply agrees with every other. */
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { samples } from '../../support/samples.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

/** Any text, as JSON may carry it: line ends, U+0000, halves of pairs, marks of the format itself. */
const delta = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '',
    '\n\n',
    'data: [DONE]\n\n',
    'id: 9\n',
    ': ping\n',
    '\u0000',
    '\ud83d',
    '\ude00',
    '\r',
    '\u2028',
    '\ufeff',
    '"\\',
  ),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
)

const reply = fc.record({
  deltas: fc.array(delta, { maxLength: 12 }),
  /** Waits after these deltas until the client has seen something more, so that frames are cut here and there. */
  seen: fc.array(fc.boolean(), { maxLength: 12 }),
  reason: fc.constantFrom('stop', 'length', 'content_filter', 'failure'),
  usage: fc.boolean(),
})

/** What is left of the deltas once it may be stored. */
const cleaned = (deltas: string[]) => deltas.join('').replaceAll('\u0000', '\uFFFD').toWellFormed()

verifies(
  ['contract-4.resume', 'contract-4.stored-before-shown', 'contract-3.session-ids', 'contract-4.clean-text'],
  'the first read, every resume and the stored content agree byte for byte',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 2 }), async (replies) => {
        const id = await scene.newSession()
        let last = 0
        for (const { deltas, seen, reason, usage } of replies) {
          const next = scene.byHand()
          const stream = await scene.stream(id, 'x', { stream_options: { include_usage: usage } })
          const up = await next
          // A call that breaks before its first text is made again: that one fails for good.
          scene.up.always((again) => again.error(400))
          const whole = stream.rest()
          for (const [index, text] of deltas.entries()) {
            const size = stream.raw().length
            await up.delta({ content: text })
            // A half pair waits for its other half, and an empty delta shows nothing: only plain words are waited for.
            if (seen[index] && /^[\x20-\x7e]+$/.test(text))
              await expect.poll(() => stream.raw().length > size, { interval: 1 }).toBe(true)
          }
          if (reason === 'failure') up.reset()
          else await up.finish(reason)
          const { frames, broken } = await whole
          expect(broken).toBe(false)

          // Ids: no gap, no repeat, from the id behind the last reply's.
          expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, index) => `${last + 1 + index}`))
          const first = last + 1
          last += frames.length
          if (reason !== 'failure') expect(contentOf(frames)).toBe(cleaned(deltas))
          const stored = (await scene.messages(id)).at(-1)
          expect(stored.content).toBe(contentOf(frames))
          expect(stored.finish_reason).toBe(reason === 'failure' ? 'error' : reason)

          const parts = stream.raw().split(/(?<=\n\n)/)
          expect(parts.length).toBe(frames.length)
          const closing = reason === 'failure' ? 1 : usage ? 3 : 2
          for (let after = Math.max(0, first - 2); after <= last + 2; after += 1) {
            const from = after < first ? 0 : Math.min(after - first + 1, frames.length - closing)
            const resumed = await scene.resume(id, after)
            expect((await resumed.rest()).broken).toBe(false)
            expect(resumed.raw()).toBe(parts.slice(from).join(''))
          }
        }
      }),
      { numRuns: samples(12, 40) },
    )
  },
)
