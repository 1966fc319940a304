/** Requests of front ends as they are read (contract sections 12, 15 and 29): malformed fields, and what is passed over. */
import { describe, expect } from 'vitest'
import { readForwarded, readRunInput, resumeDecisions } from '../../../../src/http/wires/ag-ui/input.ts'
import { responseObject } from '../../../../src/http/wires/responses/output/response-object.ts'
import { verifies } from '../../../verifies.ts'

type RunAgentInput = Parameters<typeof readRunInput>[0]
const runOf = (messages: object[], resume?: unknown) =>
  readRunInput({
    threadId: 't',
    runId: 'r',
    messages,
    ...(resume !== undefined && { resume }),
  } as unknown as RunAgentInput)
/** Returns the words that a reader throws. */
function fault(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    return error instanceof Error ? error.message : 'no error'
  }
  return 'nothing'
}

describe('AG-UI', () => {
  const result = (more: object = {}) => ({ role: 'tool', toolCallId: 'c', content: 'x', ...more })

  verifies(
    'contract-15.ag-ui',
    'trailing results are decisions, those before a message are kept, malformed ones not',
    () => {
      const asked = { role: 'user', content: 'a', id: 'm' }
      expect(runOf([asked, result()])).toMatchObject({
        ...{ text: 'a', decisions: [{ id: 'c', decision: 'respond', output: 'x' }], made: [] },
      })
      expect(runOf([result(), result({ toolCallId: 1 }), asked])).toMatchObject({
        ...{ text: 'a', decisions: null, made: [{ id: 'c', output: 'x' }], named: { id: 'm' } },
      })
      expect(runOf([asked, result({ content: '', error: 'broke' })]).decisions).toMatchObject([{ output: 'broke' }])
      expect(runOf([asked, result({ error: 'broke' })]).decisions).toMatchObject([{ output: 'x' }])
      expect(fault(() => runOf([asked, result({ toolCallId: 1 })]))).toContain('messages.1.toolCallId')
      expect(fault(() => runOf([asked, result({ content: 1 })]))).toContain('messages.1.content')
      expect(fault(() => runOf([{ role: 'assistant', content: 'a' }]))).toContain('role user')
    },
  )

  verifies(
    'contract-15.ag-ui',
    'a text is a string or parts of text, and an id that cannot be one names nothing',
    () => {
      const of = (content: unknown, id: unknown = 'm') => runOf([{ role: 'user', content, id }])
      expect(
        of([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]).text,
      ).toBe('ab')
      expect(fault(() => of([]))).toContain('messages.0.content')
      expect(fault(() => of([{ type: 'text', text: 'a' }, { type: 'binary' }]))).toContain('messages.0.content.1')
      expect([of('a', 'm').named?.id, of('a', 'x'.repeat(201)).named, of('a', 7).named]).toEqual([
        'm',
        undefined,
        undefined,
      ])
    },
  )

  verifies('contract-15.ag-ui', 'interrupts are resolved or cancelled, and name what is wrong', () => {
    const asked = { role: 'user', content: 'a' }
    const entry = (more: object) => [{ interruptId: 'i', status: 'resolved', ...more }]
    expect(runOf([asked], entry({}))).toMatchObject({
      text: '',
      decisions: null,
      resume: [{ id: 'i', isResolved: true }],
    })
    expect(fault(() => runOf([asked], entry({ status: 'done' })))).toContain('resume.0.status')
    expect(fault(() => runOf([asked], entry({ interruptId: 1 })))).toContain('resume.0.interruptId')
    const decide = (isResolved: boolean, payload?: unknown) =>
      resumeDecisions([{ id: 'i', isResolved, payload }], [], new Map())
    expect(decide(false, { approved: true })).toEqual([{ id: 'i', decision: 'reject' }])
    expect(decide(true, { approved: true })).toMatchObject([{ id: 'i', decision: 'approve' }])
    expect(decide(true, { approved: false, reason: 'no' })).toMatchObject([{ decision: 'reject', reason: 'no' }])
    expect(fault(() => decide(true, { approved: 'yes' }))).toContain('resume.0.payload.approved')
    expect(fault(() => decide(true))).toContain('resume.0.payload.approved')
    expect(resumeDecisions([{ id: 'i', isResolved: true, payload: null }], [], new Map([['i', 1]]))).toEqual([])
  })

  verifies(
    'contract-27.question-wires',
    'a question is answered under its key, and its payload fits what was asked',
    () => {
      const asked = (more: object) => ({ call_id: 'c', name: 'look', arguments: '{}', kind: 'input' as const, ...more })
      const decide = (more: object, payload: unknown, isResolved = true) =>
        resumeDecisions([{ id: 'c', isResolved, payload }], [asked(more)], new Map())
      const form = { key: 'k', schema: { type: 'object' } }
      expect(decide(form, { n: 1 })).toEqual([{ id: 'c', key: 'k', decision: 'answer', content: '{"n":1}' }])
      expect(decide(form, null)).toEqual([{ id: 'c', key: 'k', decision: 'answer', content: '{}' }])
      expect(decide(form, {}, false)).toEqual([{ id: 'c', key: 'k', decision: 'cancel' }])
      expect(fault(() => decide(form, 'yes'))).toContain('resume.0.payload: must be an object')
      const page = { key: 'k', url: 'https://files.test/' }
      expect(decide(page, {})).toEqual([{ id: 'c', key: 'k', decision: 'answer' }])
      expect(fault(() => decide(page, { n: 1 }))).toContain('resume.0.payload: must be empty')
    },
  )

  verifies('contract-25.page-instructions', 'instructions come with whatever a run brings', () => {
    const system = { role: 'system', content: 'Be brief.' }
    const texts = (run: ReturnType<typeof runOf>) => run.instructions.map(({ text }) => text)
    const resume = [{ interruptId: 'i', status: 'cancelled' }]
    const runs = [runOf([system, { role: 'user', content: 'a' }]), runOf([system, result()]), runOf([system], resume)]
    expect(runs.map(texts)).toEqual(Array(3).fill(['Be brief.']))
  })

  verifies('contract-25.regenerate-run', 'a message is looked for behind the newest replies before it', () => {
    const id = (n: number) => `0198c0de-0000-7000-8000-${`${n}`.padStart(12, '0')}`
    const replies = Array.from({ length: 22 }, (_, n) => ({ role: 'assistant', id: id(n) }))
    const { named } = runOf([
      ...replies.slice(0, 21),
      { role: 'assistant', id: 'own' },
      { role: 'user', content: 'a', id: 'm' },
      ...replies.slice(21),
    ])
    expect(named?.replies).toEqual(replies.slice(1, 21).map((one) => one.id))
  })

  verifies('contract-29.remembered-wires', 'a wish to remember has its scope and 1 to 20 different names', () => {
    const decide = (more: object) => () =>
      resumeDecisions([{ id: 'i', isResolved: true, payload: { approved: true, ...more } }], [], new Map())
    expect(decide({ remember: 'user', remember_arguments: ['a'] })()).toMatchObject([{ decision: 'approve' }])
    const rejected = { approved: false, reason: 'No.', remember: 'user' }
    expect(decide(rejected)()).toMatchObject([{ decision: 'reject', reason: 'No.', wish: { scope: 'user' } }])
    expect(fault(decide({ remember: 'agent' }))).toContain('resume.0.payload.remember: ')
    for (const names of [[], ['a', 'a'], [1], 'a', Array.from({ length: 21 }, (_, n) => `${n}`)]) {
      expect(fault(decide({ remember: 'user', remember_arguments: names }))).toContain('remember_arguments')
    }
    expect(fault(decide({ remember: 'user', remember_arguments: Array.from({ length: 20 }, (_, n) => `${n}`) }))).toBe(
      'nothing',
    )
  })

  verifies('contract-25.busy', 'what is forwarded has a user of 1 to 200 characters, and interrupts by default', () => {
    expect(readForwarded(undefined)).toEqual({ user: null, onBusy: 'interrupt' })
    expect(readForwarded({ user: 'ann' })).toEqual({ user: 'ann', onBusy: 'interrupt' })
    expect(readForwarded({ on_busy: null })).toEqual({ user: null, onBusy: 'interrupt' })
    expect(readForwarded({ user: '😀'.repeat(200), on_busy: 'steer' })).toMatchObject({ onBusy: 'steer' })
    for (const user of ['', '😀'.repeat(201), 1])
      expect(fault(() => readForwarded({ user }))).toContain('forwardedProps.user')
    expect(fault(() => readForwarded({ on_busy: 'wait' }))).toContain('forwardedProps.on_busy')
  })
})

verifies('contract-24.object', 'a response shows how its reply ended, and its tokens with their details', () => {
  const head = {
    ...{ sessionId: null, encoder: 1, previousId: null, request: null },
    reply: { id: '0198c0de-0000-7000-8000-00000000000a', createdAt: '2026-01-01T00:00:00.900Z', model: 'm' },
  }
  const progress = { model: 'm', output: [], usage: null, ended: null }
  const of = (ended: Parameters<typeof responseObject>[1]['ended']) => {
    const { status, incomplete_details: details, error } = responseObject(head, { ...progress, ended })
    return [status, details?.reason ?? null, error?.code ?? null]
  }
  expect(of(null)).toEqual(['in_progress', null, null])
  expect((['stop', 'steered', 'tool_calls'] as const).map((ended) => of(ended)[0])).toEqual(Array(3).fill('completed'))
  expect(of('length')).toEqual(['incomplete', 'max_output_tokens', null])
  expect(of('content_filter')).toEqual(['incomplete', 'content_filter', null])
  expect(of('cancelled')).toEqual(['cancelled', null, null])
  expect(of({ code: 'provider_error', message: 'm', detail: 'd' })).toEqual(['failed', null, 'provider_error'])
  const counted = { cachedTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5 }
  const usage = { promptTokens: 10, completionTokens: 7, estimated: false, ...counted }
  const { usage: shown, created_at: at, store } = responseObject(head, { ...progress, usage })
  expect([at, store]).toEqual([Math.floor(Date.UTC(2026, 0, 1) / 1000), false])
  expect(shown).toEqual({
    ...{ input_tokens: 10, output_tokens: 7, total_tokens: 17 },
    input_tokens_details: { cached_tokens: 3, cache_write_tokens: 4 },
    output_tokens_details: { reasoning_tokens: 5 },
  })
})
