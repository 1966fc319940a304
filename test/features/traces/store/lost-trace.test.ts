/** Contract section 16: what is known of a reply whose owner was lost. */
import { expect } from 'vitest'
import type { StepDetail, TransitionRecord } from '../../../../src/actors/ports/index.ts'
import { readTrace } from '../../../../src/features/traces/store/reply-trace.ts'
import { recordTransitions } from '../../../../src/features/traces/store/transitions.ts'
import type { NoteKind } from '../../../../src/features/traces/transitions.ts'
import { settleLost } from '../../../../src/persistence/replies/settling/lost-owners.ts'
import { listMessages } from '../../../persistence/list-messages.ts'
import { finished, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

verifies(
  ['contract-16.trace', 'contract-16.figures'],
  'spans that ran end when the reply was declared lost, and its figures are read from its notes',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const sessionId = await scene.newSession()
    const prompt = { id: 'p', name: 'Prompt', sha256: 'ab' }
    const facts = { providerId: '11111111-1111-4111-8111-111111111111', prompt, overrides: { temperature: 1 } }
    const { id } = await scene.begin(sessionId, { facts })
    const step = { sessionId, at: new Date(), messageId: id, to: 'streaming.generating' }
    const attempt = { span: 'a1', turn: 1, attempt: 1, startMs: 0 }
    const steps: TransitionRecord[] = [
      { ...step, from: 'idle', event: 'message', detail: {} },
      { ...step, from: step.to, event: 'attempt', detail: attempt, kind: 'note' },
      { ...step, from: step.to, event: 'attempt', detail: { ...attempt, firstTokenMs: 7 }, kind: 'note' },
    ]
    await recordTransitions(sql, instance.id, steps)
    const running = await readTrace(sql, id)
    expect(running?.isOver).toBe(false)
    expect(running?.trace.spans.map(({ kind, endMs }) => [kind, endMs])).toEqual([
      ['reply', null],
      ['model', null],
      ['attempt', null],
    ])
    await sql`update instances set epoch = epoch + 1 where id = ${instance.id}`
    const { instance: judge } = await scene.another()
    await settleLost(sql, { instanceId: judge.id, withinS: 600, deriveTitle: () => null, onFault() {}, onUnmoved() {} })
    const lost = await readTrace(sql, id)
    expect(lost?.isOver).toBe(true)
    const ends = new Set(lost?.trace.spans.map(({ endMs }) => endMs))
    expect([...ends]).toEqual([expect.any(Number)])
    expect(lost?.trace.spans.map(({ kind, ok }) => [kind, ok])).toEqual([
      ['reply', false],
      ['model', false],
      ['attempt', false],
      ['settle', false],
    ])
    const [, reply] = (await listMessages(sql, scene.agentId, sessionId)) ?? []
    expect(reply?.facts).toEqual({ ...facts, attempts: 1, firstTokenMs: 7, durationMs: expect.any(Number) })
  },
)

verifies(
  'contract-16.trace',
  'spans that ran when another instance took over end there, within their turn',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const sessionId = await scene.newSession()
    const { id } = await scene.begin(sessionId, {})
    const step = { sessionId, at: new Date(), messageId: id, to: 'streaming.generating', from: 'streaming.generating' }
    const note = (event: NoteKind, detail: StepDetail): TransitionRecord => ({ ...step, event, kind: 'note', detail })
    const handover = { reason: 'instance_lost', from: 'former', ok: true }
    await recordTransitions(sql, instance.id, [
      { ...step, from: 'idle', event: 'message', detail: {} },
      note('attempt', { span: 'a1', turn: 1, attempt: 1, startMs: 1 }),
      note('tool', { span: 't1', turn: 1, callId: 'c', name: 'look', startMs: 2 }),
      note('handover', { span: 'h0.1', ...handover, startMs: 500, endMs: 500 }),
      note('attempt', { span: 'a2', turn: 1, attempt: 1, startMs: 500 }),
      note('model', { span: 'm1', turn: 1, startMs: 500, endMs: 800, ok: true }),
    ])
    const running = await readTrace(sql, id)
    expect(running?.trace.spans.map((span) => [span.id, span.startMs, span.endMs, span.ok])).toEqual([
      ['reply', 0, null, null],
      ['m1', 1, 800, true],
      ['a1', 1, 500, false],
      ['t1', 2, 500, false],
      ['a2', 500, null, null],
      ['h0.1', 500, 500, true],
    ])
  },
)

verifies('contract-16.trace', 'the times of a reply from the queue are those of one clock, its owner’s', async () => {
  await using scene = await openScene()
  const sessionId = await scene.newSession()
  const reply = await scene.begin(sessionId, {})
  const begun = Date.parse(reply.createdAt) + 3_600_000
  const moved = (ms: number, from: string, event: string, to: string): TransitionRecord => {
    return { sessionId, messageId: reply.id, at: new Date(begun + ms), from, event, to, detail: {} }
  }
  await recordTransitions(scene.sql, scene.instance.id, [
    moved(0, 'complete', 'next', 'streaming.generating'),
    moved(10, 'streaming.generating', 'finished', 'streaming.settling'),
    moved(20, 'streaming.settling', 'settled', 'complete'),
  ])
  await scene.journal.settle(reply, finished())
  const ended = await readTrace(scene.sql, reply.id)
  expect(ended?.trace.spans.map(({ kind, startMs, endMs }) => [kind, startMs, endMs])).toEqual([
    ['reply', 0, 20],
    ['settle', 10, 20],
  ])
})
