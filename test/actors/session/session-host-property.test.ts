/** Any interleaving of what may happen to a reply (contract section 4): it ends once, everywhere, and leaves nothing. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import { sessionChart, transitionTaken } from '../../../src/features/traces/chart.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import type { Gate } from '../memory-journal.ts'
import { end, fail, follow, framesOf, message, openScene, say } from '../scene.ts'
import { turn } from '../turn.ts'

const gates = ['admitted', 'append', 'settle', 'settled'] as const
const actions = [
  ...(['send', 'interrupt', 'say', 'say', 'end', 'fail', 'cancel', 'read', 'delete', 'fence', 'turn'] as const),
  ...gates.flatMap((gate) => [{ hold: gate }, { release: gate }] as const),
]
type Action = (typeof actions)[number]

/** Plays the actions, then lets everything go on until nothing runs. */
async function play(list: readonly Action[], isGap: (action: Action) => boolean) {
  const scene = openScene()
  const readers: { replyId: string; reading: ReturnType<typeof follow> }[] = []
  const errands: Promise<unknown>[] = []
  const read = (reply: Parameters<typeof follow>[0]) => {
    readers.push({ replyId: reply.info.id, reading: follow(reply) })
  }
  const send = async (onBusy: 'reject' | 'interrupt') => {
    const sent = await scene.host.send(message('s', { onBusy }))
    if ('reply' in sent) read(sent.reply)
  }
  const newest = () => scene.calls.at(-1)
  const open = async () => {
    const reply = await scene.host.open(scene.store.rows().at(-1)?.info.id ?? '')
    if (reply) read(reply)
  }
  const doers: Record<Extract<Action, string>, () => unknown> = {
    send: () => errands.push(send('reject')),
    interrupt: () => errands.push(send('interrupt')),
    say: () => newest()?.say(say('word ')),
    end: () => newest()?.say(end),
    fail: () => newest()?.say(fail),
    cancel: () => errands.push(scene.host.cancel('s')),
    read: () => errands.push(open()),
    delete: () => {
      scene.store.remove('s')
      scene.host.forget(['s'], [])
    },
    fence: () => scene.host.owned.fenced(scene.store.fence()),
    turn: () => turn(),
  }
  for (const action of list) {
    if (typeof action === 'string') void doers[action]()
    else if ('hold' in action) scene.store.hold(action.hold)
    else void scene.store.release(action.release)
    if (isGap(action)) await turn()
  }
  for (let round = 0; round < 3; round += 1) {
    for (const gate of gates) await scene.store.release(gate satisfies Gate)
    for (const call of scene.calls) await call.say(end)
  }
  await Promise.all(errands)
  for (const call of scene.calls) await call.say(end)
  const ends = await Promise.all(
    readers.map(({ reading }) =>
      reading.done.then(
        () => null,
        (error: unknown) => error,
      ),
    ),
  )
  await turn()
  return { scene, readers, ends }
}

verifies(
  ['contract-4.cancel', 'contract-4.delete', 'contract-4.fencing', 'contract-8.transitions'],
  'cancel, end, failure, deletion and fencing in any order: one end for each reader, nothing left running',
  async () => {
    const { transitions } = sessionChart()
    const list = fc.array(fc.constantFrom(...actions), { maxLength: 30 })
    const gaps = fc.infiniteStream(fc.boolean())
    const property = fc.asyncProperty(list, gaps, async (some, gap) => {
      const all: Action[] = ['send', ...some]
      const { scene, readers, ends } = await play(all, () => gap.next().value === true)

      for (const [index, { replyId, reading }] of readers.entries()) {
        const error = ends[index]
        const last = reading.frames.at(-1)
        if (error !== null) expect(error).toBeInstanceOf(StreamCut)
        else expect(last?.type).toMatch(/^(done|failed)$/)
        expect(reading.frames.filter(({ type }) => type === 'done' || type === 'failed').length).toBe(
          error === null ? 1 : 0,
        )
        // Stored before shown: whatever anybody has seen, the rows show, under the same ids.
        const row = scene.store.rows().find(({ info }) => info.id === replyId)
        if (row === undefined) continue
        const stored = await framesOf(row)
        expect(reading.frames).toEqual(error === null ? stored : stored.slice(0, reading.frames.length))
        expect(row.outcome).not.toBeNull()
      }
      expect([scene.running(), scene.host.owned.running().size, scene.errors]).toEqual([0, 0, []])

      // Each step is an edge of the chart, and starts where the reply's last one ended.
      for (const { info } of scene.store.rows()) {
        const steps = (await scene.steps(info.id)).map((step) => step.split(' '))
        for (const [index, [from = '', event = '', to = '']] of steps.entries()) {
          expect(transitionTaken(transitions, { from, event, to })).toBeDefined()
          if (index > 0) expect(from).toBe(steps[index - 1]?.[2])
        }
        expect(steps.length).toBeLessThanOrEqual(3)
      }
    })
    await fc.assert(property, { numRuns: samples(100, 400) })
  },
)
