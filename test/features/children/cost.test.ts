/** The statements that children cost a reply, and when a reply waits with them (contract section 30). */
import { expect, vi } from 'vitest'
import { createChildren } from '../../../src/features/children/children.ts'
import type { ChildState, ChildStore } from '../../../src/features/children/store/children.ts'
import { createWaits } from '../../../src/features/children/waits.ts'
import { openScene, say, end as whole } from '../../actors/scene.ts'
import { verifies } from '../../verifies.ts'

verifies(
  'contract-30.child-costs',
  'a reply that asks no agent, and its end, ask the database for no children',
  async () => {
    const asked: string[] = []
    const note =
      <T>(name: string, answer: T) =>
      async () => {
        asked.push(name)
        return answer
      }
    const store: ChildStore = {
      open: note('open', 'open' as const),
      rowOf: () => ({}),
      begin: note('begin', []),
      states: note('states', []),
      end: note('end', []),
      cancel: note('cancel', []),
      follow: note('follow', undefined),
      depth: note('depth', 0),
    }
    const scene = openScene({}, (host) => [createChildren(host, { store, generate: () => {}, again: (ask) => ask() })])
    const { done } = await scene.start()
    await scene.calls[0]?.say(say('Hello.'), whole)
    await done
    expect(asked).toEqual([])
  },
)

const waits: Omit<ChildState, 'sessionId' | 'state'> = {
  content: null,
  finishReason: null,
  errorCode: null,
  errorMessage: null,
}

verifies('contract-30.child-waits', 'a reply waits when none of its calls can go on without somebody', async () => {
  vi.useFakeTimers()
  try {
    const states = new Map<string, ChildState['state']>([['one', 'waiting']])
    const calls = createWaits(async (ids) =>
      ids.flatMap((id) => {
        const state = states.get(id)
        return state ? [{ ...waits, sessionId: id, state }] : []
      }),
    )
    let isAlone = false
    const ends: string[] = []
    const ask = async (parent: string, child: string) => {
      const call = calls.open(parent, () => isAlone)
      const { state } = await calls.end(call, child, new AbortController().signal)
      ends.push(`${child} ${state}`)
    }
    const all = [ask('parent', 'one'), ask('parent', 'two'), ask('other', 'three')]
    const pass = () => vi.advanceTimersByTimeAsync(1000)
    await pass()
    states.set('two', 'waiting')
    await pass()
    expect(ends).toEqual([]) // a call of another kind is under way
    states.delete('two')
    isAlone = true
    await pass()
    expect(ends).toEqual([]) // one child runs
    states.set('three', 'ended').set('two', 'ended')
    await pass()
    await Promise.all(all)
    expect(ends.toSorted()).toEqual(['one waiting', 'three ended', 'two ended'])
  } finally {
    vi.useRealTimers()
  }
})
