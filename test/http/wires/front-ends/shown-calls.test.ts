/** Calls that wait, ask or were decided, as front ends show them, streamed and stored (contract sections 12, 15, 27, 30). */
import { describe, expect } from 'vitest'
import type { Frame, ReplyEvent } from '../../../../src/actors/reply/reply-event.ts'
import { createRunEncoder } from '../../../../src/http/wires/ag-ui/encoder.ts'
import { createUiMessageEncoder } from '../../../../src/http/wires/ai-sdk/encoder.ts'
import { uiMessageOf, uiMessagesOf } from '../../../../src/http/wires/ai-sdk/stored-messages.ts'
import { inputOf } from '../../../../src/http/wires/ai-sdk/tool-input.ts'
import type { FrontEndEncoder } from '../../../../src/http/wires/front-ends/asked-below.ts'
import { writeExact } from '../../../../src/untrusted/exact-json.ts'
import { verifies } from '../../../verifies.ts'

type Stored = Parameters<typeof uiMessageOf>[0][number]
type Below = Parameters<FrontEndEncoder['outline']['end']>[1]
const at = '2026-01-01T00:00:00.000Z'
const usage = { promptTokens: 1, completionTokens: 1, estimated: false }

const call = (id: string, more: object = {}): ReplyEvent => ({
  ...{ type: 'tool_call', id, name: 'look', arguments: '{}', startedAt: at },
  ...more,
})
const asked = (
  id: string,
  ...questions: { key: string; message: string; url?: string; signIn?: true }[]
): ReplyEvent => ({
  ...{ type: 'tool_asked', id, asked: { server: 'files', of: 'x', questions } },
})
const result = (id: string): ReplyEvent => ({ type: 'tool_result', id, ok: true, content: 'found', durationMs: 1 })
const child = { child: { agentId: 'a', sessionId: 's' } }
const entry = (id: string, kind: 'approval' | 'input') => ({
  ...{ call_id: id, name: 'pay', arguments: '{}', kind },
  path: [{ agent_id: 'a', session_id: 's', call_id: 'c' }],
})

const reply = (id: string, events: ReplyEvent[], more: Partial<Stored> = {}): Stored => ({
  ...{ id, role: 'assistant', status: 'complete', failure: null, feedback: null, content: '', events, parts: [] },
  ...{ waits: false, continues: null, waited: [] },
  ...more,
})
const waited = (id: string, decision: 'approve' | 'reject' | null, content: string | null = null) => ({
  ...{ id, open: decision === null, decision, kind: 'approval', decidedAt: at, decidedBy: null, arguments: null },
  ...{ output: null, reason: null, begun: content !== null, ok: true, content, durationMs: 1, answers: null },
})

function streamed(
  encoder: FrontEndEncoder,
  events: readonly ReplyEvent[],
  ended: 'tool_calls' | 'failed',
  below: Below,
) {
  const frames: Frame[] = [
    { seq: 1, type: 'started' },
    ...events.map((event, n): Frame => ({ seq: 1, type: 'stored', stored: { seq: 1, part: n + 1, event } })),
    ended === 'failed'
      ? { seq: 2, type: 'failed', error: { code: 'internal', message: 'broken', detail: '' } }
      : { seq: 2, type: 'finished', reason: ended, usage },
  ]
  encoder.begin()
  for (const frame of frames) encoder.outline.take(frame, below)
  const sent = encoder
    .text()
    .split('\n\n')
    .filter((one) => one.startsWith('data: {'))
  return sent.map((one) => JSON.parse(one.slice('data: '.length)))
}
const typesOf = (parts: readonly { type: string }[]) => parts.map(({ type }) => type)

describe('the AI SDK', () => {
  verifies('contract-30.child-wires', 'a call asks for approval where all that waits below it are approvals', () => {
    const asks = (...below: ReturnType<typeof entry>[]) => {
      const parts = streamed(createUiMessageEncoder('r'), [call('c', child)], 'tool_calls', below)
      const stored = uiMessageOf([reply('r', [call('c', child)], { waits: true })], () => '', below)
      return [
        typesOf(parts).filter((type) => type === 'data-pending' || type === 'tool-approval-request'),
        stored.parts,
      ]
    }
    const [both, storedBoth] = asks(entry('x', 'approval'), entry('y', 'approval'))
    expect(both).toEqual(['data-pending', 'data-pending', 'tool-approval-request'])
    expect(storedBoth).toMatchObject([{}, { state: 'approval-requested' }, { id: 'x' }, { id: 'y' }])
    const [mixed, storedMixed] = asks(entry('x', 'approval'), entry('y', 'input'))
    expect(mixed).toEqual(['data-pending', 'data-pending'])
    expect(storedMixed).toMatchObject([{}, { state: 'input-available' }, { id: 'x' }, { id: 'y' }])
  })

  verifies(
    'contract-27.question-wires',
    'what a call asked before is withdrawn when it asks again, of no other call',
    () => {
      const first = [
        call('c'),
        call('d'),
        asked('c', { key: 'k', message: 'one' }),
        asked('d', { key: 'k', message: 'of d' }),
      ]
      const replies: [Stored, Stored] = [
        reply('r', first, { waits: true }),
        reply('s', [asked('c', { key: 'k', message: 'two' })], { waits: true, continues: 'r' }),
      ]
      const { parts } = uiMessageOf(replies, () => '')
      const questions = parts.flatMap((part) => (part.type === 'data-pending' ? [part.data.message] : []))
      expect(questions.filter((one) => one !== 'of d')).toEqual(['two'])
      expect(questions).toContain('of d')
    },
  )

  verifies(
    'contract-15.ai-sdk',
    'a call that was made was approved, and replies that go on are one message, no others',
    async () => {
      const approval = call('c', { waits: 'approval' })
      const asking = reply('r', [approval], { waits: true, waited: [waited('c', 'approve', 'found')] })
      const feedback = { score: 1 as const, comment: null, created_at: at, updated_at: at }
      const failure = { code: 'internal', message: 'broken' } as const
      const made = reply('s', [result('c')], { continues: 'r', status: 'error', failure, feedback })
      const question = reply('u', [], { role: 'user', content: 'Pay!' })
      const path = async function* () {
        yield* [question, asking, made, reply('t', [], { continues: 'gone' })]
      }
      const shown: ReturnType<typeof uiMessageOf>[] = []
      const messages = uiMessagesOf(
        path(),
        () => '',
        async () => [],
      )
      for await (const one of messages) shown.push(one)
      expect(shown.map(({ id }) => id)).toEqual(['u', 'r', 't'])
      // It ended as the last of them did.
      expect(shown[1]?.metadata).toEqual({ status: 'error', error: failure, feedback })
      expect(shown[1]?.parts[1]).toMatchObject({ state: 'output-available', approval: { id: 'c', approved: true } })
    },
  )

  verifies(
    'contract-30.child-wires',
    'what waits below is read where the last reply waits, and any of them has called agents',
    async () => {
      const read: string[] = []
      const below = async (id: string) => {
        read.push(id)
        return [entry('x', 'approval')]
      }
      const list = async (...replies: Stored[]) => {
        read.length = 0
        const path = async function* () {
          yield* replies
        }
        const shown = uiMessagesOf(path(), () => '', below)
        while ((await shown.next()).done !== true);
        return read.splice(0)
      }
      const went = reply('s', [], { continues: 'r', waits: true })
      expect(await list(reply('r', [call('c', child)], { waits: true }), went)).toEqual(['s'])
      const asks = reply('s', [call('d', child)], { continues: 'r', waits: true })
      expect(await list(reply('r', [call('c')], { waits: true }), asks)).toEqual(['s'])
      expect(await list(reply('r', [call('c')], { waits: true }), went)).toEqual([])
      expect(await list(reply('r', [call('c', child)]))).toEqual([])
    },
  )

  verifies(['contract-12.ai-sdk', 'contract-35.digits'], 'arguments keep their digits, and blank ones are none', () => {
    const input = (text: string) => writeExact(inputOf({ id: 'c', name: 'look', arguments: text }))
    expect([input('{"n":1.0,"m":12345678901234567890}'), input(' \n'), input('{"')]).toEqual([
      '{"n":1.0,"m":12345678901234567890}',
      '{}',
      '"{\\""',
    ])
  })
})

describe('AG-UI', () => {
  const run = { threadId: 't', runId: 'r' }

  verifies(
    'contract-30.parent',
    'a child’s step ends with its run, also where that fails, and not in the next one',
    () => {
      const steps = (events: readonly { type: string }[]) => typesOf(events).filter((type) => type.startsWith('STEP_'))
      const failed = streamed(createRunEncoder(run, 'r'), [call('c', child)], 'failed', [])
      expect(steps(failed)).toEqual(['STEP_STARTED', 'STEP_FINISHED'])
      const earlier = reply('r', [call('c', child)], { waits: true })
      const next = streamed(createRunEncoder(run, 's', [earlier]), [], 'failed', [])
      expect(steps(next)).toEqual([])
    },
  )

  const interruptsOf = (events: readonly ReplyEvent[], below: Below) =>
    streamed(createRunEncoder(run, 'r'), events, 'tool_calls', below).at(-1).outcome.interrupts

  verifies('contract-30.child-wires', 'what waits below a call is shown at the call that leads to it', () => {
    const below = [entry('x', 'approval'), { ...entry('y', 'input'), server: 'files', message: 'Who?' }]
    expect(interruptsOf([call('c', child)], below)).toMatchObject([
      { id: 'x', toolCallId: 'c', reason: 'tool_approval' },
      { id: 'y', toolCallId: 'c', reason: 'input_required' },
    ])
  })

  verifies('contract-27.question-wires', 'a sign-in is told from a question, and has its page', () => {
    const questions = [
      { key: 'k', message: 'Sign in', url: 'https://own.test/sign-in', signIn: true as const },
      { key: 'q', message: 'Look here', url: 'https://files.test/look' },
    ]
    expect(interruptsOf([call('c'), asked('c', ...questions)], [])).toMatchObject([
      { id: 'c:k', reason: 'sign_in', metadata: { server: 'files', url: 'https://own.test/sign-in' } },
      { id: 'c:q', reason: 'input_required', metadata: { server: 'files', key: 'q', url: 'https://files.test/look' } },
    ])
  })
})
