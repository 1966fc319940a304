/** Contract section 28: the calls of a replay are answered with the results on record. */
import { expect } from 'vitest'
import { neverMade } from '../../../src/actors/history/decided-calls.ts'
import { unknownOutcome } from '../../../src/actors/history/tool-turns.ts'
import type { HistoryDecision, Toolbox } from '../../../src/actors/ports/index.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { answering, type RecordedReply, recordedCalls } from '../../../src/features/replays/recorded-calls.ts'
import { verifies } from '../../verifies.ts'

const toolbox: Toolbox = {
  tools: [],
  own: new Map([['look', { key: 'http:1', needsApproval: true }]]),
  call: () => Promise.reject(new Error('No tool is called.')),
}

type Call = Extract<ReplyEvent, { type: 'tool_call' }>

const called = (id: string, text: string, fields: Partial<Call> = {}): Call => ({
  ...{ type: 'tool_call', id, name: 'look', arguments: text, startedAt: '2026-11-01T00:00:00.000Z' },
  ...fields,
})
const result = (id: string, content: string): ReplyEvent => ({
  ...{ type: 'tool_result', id, ok: true, content, durationMs: 1 },
})

/** Makes calls of `look` against what is on record, and returns the results; null for a divergence. */
async function answersTo(recorded: readonly RecordedReply[], asked: readonly string[]): Promise<(string | null)[]> {
  const stop = new AbortController()
  const box = answering(toolbox, recordedCalls(recorded), () => stop.abort(new Error('diverged')))
  expect(box.own?.get('look')?.needsApproval).toBe(false)
  const answers: (string | null)[] = []
  for (const [n, text] of asked.entries()) {
    const call = { id: `a${n}`, name: 'look', arguments: text }
    answers.push(
      await box.call(call, stop.signal, call.id).then(
        ({ content }) => content,
        () => null,
      ),
    )
  }
  return answers
}

const oneReply = (...events: ReplyEvent[]): RecordedReply[] => [{ events, waited: [] }]
const calledEach = (texts: readonly string[]) =>
  oneReply(...texts.flatMap((text, n) => [called(`c${n}`, text), result(`c${n}`, `result ${n}`)]))

verifies('contract-28.replay-acts-not', 'arguments are equal as JSON values, each digit of their numbers', async () => {
  expect(await answersTo(calledEach(['{"id":9007199254740993}']), ['{"id":9007199254740992}'])).toEqual([null])
  expect(
    await answersTo(
      calledEach(['{"id":9007199254740992}', '{"id":9007199254740993,"a":[1.0]}', '{"no json', '{"no json']),
      ['{"a":[1],"id":9007199254740993}', '{"id":9007199254740992}', '{"no json', '{"no json', '{"no json'],
    ),
  ).toEqual(['result 1', 'result 0', 'result 2', 'result 3', null])
})

verifies('contract-28.replay-acts-not', 'a tool is known by its identity, in older replies by its name', async () => {
  const answer = async (fields: Partial<Call>) =>
    (await answersTo(oneReply(called('c', '{}', fields), result('c', 'seen')), ['{}']))[0]
  expect(await answer({ tool: 'http:1', name: 'old_name' })).toBe('seen')
  expect(await answer({ tool: 'http:2' })).toBeNull()
  expect(await answer({ tool: null })).toBeNull()
  expect(await answer({})).toBe('seen')
  expect(await answer({ name: 'old_name' })).toBeNull()
  expect(await answer({ waits: 'caller' })).toBeNull()
})

verifies('contract-28.replay-acts-not', 'each turn’s calls have their own results, whatever their ids', async () => {
  const events = [called('c', '{"q":1}'), result('c', 'one'), called('c', '{"q":2}'), result('c', 'two')]
  expect(await answersTo(oneReply(...events), ['{"q":2}', '{"q":1}'])).toEqual(['two', 'one'])
})

verifies('contract-28.replay-acts-not', 'calls that waited are answered as the model was told of them', async () => {
  const decided = (id: string, fields: Partial<HistoryDecision>): HistoryDecision => ({
    ...{ id, decision: 'approve', arguments: null, output: null, reason: null, begun: true, content: null },
    ...fields,
  })
  const ids = ['made', 'changed', 'lost', 'never', 'rejected']
  const asked: RecordedReply = {
    events: ids.map((id) => called(id, `{"q":"${id}"}`, { waits: 'approval' })),
    waited: [
      decided('made', {}),
      decided('changed', { arguments: '{"q":0}' }),
      decided('lost', {}),
      decided('never', { begun: false }),
      decided('rejected', { decision: 'reject', reason: 'no', begun: false }),
    ],
  }
  const followed: RecordedReply = { events: [result('made', 'yes'), result('changed', 'no')], waited: [] }
  const answers = await answersTo(
    [asked, followed],
    ids.map((id) => `{"q":"${id}"}`),
  )
  expect(answers).toEqual([
    'yes',
    'It was approved with other arguments: {"q":0}\n\nno',
    unknownOutcome,
    neverMade,
    'The call was rejected, and not made: no',
  ])
})
