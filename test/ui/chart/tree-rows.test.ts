/** The spans of a reply and of the sessions that answer its calls, as rows to one scale. */
import { expect } from 'vitest'
import { type ToldReply, treeRows } from '../../../ui/src/traces/tree/tree-rows.ts'
import type { Span, Trace } from '../../../ui/src/traces/types.ts'
import { verifies } from '../../verifies.ts'

const begun = Date.UTC(2026, 5, 1)
const span = (
  kind: Span['kind'],
  id: string,
  [startMs, endMs]: [number, number | null],
  more: Partial<Span> = {},
): Span => ({
  id,
  parentId: null,
  kind,
  name: id,
  startMs,
  endMs,
  ok: endMs === null ? null : true,
  detail: {},
  ...more,
})
const asks = (sessionId: string) => ({ child: { agentId: 'billing', sessionId } })

/** A reply that was admitted so many milliseconds after the first one. */
const told = (id: string, sessionId: string, [from, until]: [number, number | null], spans: Span[] = []): ToldReply => {
  const trace: Trace = {
    messageId: id,
    agentVersion: null,
    startedAt: new Date(begun + from).toISOString(),
    spans: [span('reply', 'reply', [0, until === null ? null : until - from]), ...spans],
  }
  return { reply: { id, sessionId, isRunning: until === null, toolCalls: [], error: null }, trace }
}
const shown = (top: ToldReply, below: ToldReply[], folded: string[] = []) =>
  treeRows(top, below, new Set(folded)).map(({ key, level, offsetMs }) => [key, level, offsetMs])

verifies('contract-30.pages', 'each session is below its call, at any depth, and folds away', () => {
  const top = told('top', 's', [0, 900], [span('tool', 't1', [100, 800], asks('c1'))])
  const child = told('child', 'c1', [150, 700], [span('tool', 't1', [50, 500], asks('c2'))])
  const grandchild = told('grandchild', 'c2', [250, 600])
  expect(shown(top, [grandchild, child])).toEqual([
    ['reply', 0, 0],
    ['t1', 0, 0],
    ['child reply', 3, 150],
    ['child t1', 3, 150],
    ['grandchild reply', 6, 250],
  ])
  expect(shown(top, [child, grandchild], ['c2'])).toHaveLength(4)
  expect(shown(top, [child, grandchild], ['c1'])).toHaveLength(2)
})

verifies('contract-30.pages', 'a reply is shown once, below the call during which it was given', () => {
  const call = (id: string, time: [number, number]) => span('tool', id, time, asks('c1'))
  const whole = told('whole', 'c1', [150, 700])
  // Another instance joined the call.
  expect(shown(told('top', 's', [0, 900], [call('t1', [100, 300]), call('t2', [310, 800])]), [whole])).toEqual([
    ['reply', 0, 0],
    ['t1', 0, 0],
    ['whole reply', 3, 150],
    ['t2', 0, 0],
  ])
  // The session waited before, and goes on as an ordinary one afterwards.
  const replies = [told('before', 'c1', [-500, -200]), whole, told('after', 'c1', [2_000, null])]
  expect(shown(told('top', 's', [0, 900], [call('t1', [100, 800])]), replies)).toEqual([
    ['reply', 0, 0],
    ['t1', 0, 0],
    ['whole reply', 3, 150],
  ])
})
