/** Contract section 28: the calls of a replay are answered with the results on record. */
import { expect } from 'vitest'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { answering, recordedCalls } from '../../../src/features/replays/recorded-calls.ts'
import { verifies } from '../../verifies.ts'

const toolbox = { tools: [], call: () => Promise.reject(new Error('No tool is called.')) }

/** Makes calls of one tool against these on record, and returns the results; null for a divergence. */
async function answersTo(recorded: readonly string[], asked: readonly string[]): Promise<(string | null)[]> {
  const events = recorded.flatMap((text, n): ReplyEvent[] => [
    { type: 'tool_call', id: `c${n}`, name: 'look', arguments: text, startedAt: '2026-11-01T00:00:00.000Z' },
    { type: 'tool_result', id: `c${n}`, ok: true, content: `result ${n}`, durationMs: 1 },
  ])
  const stop = new AbortController()
  const box = answering(toolbox, recordedCalls(events), () => stop.abort(new Error('diverged')))
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

verifies('contract-28.replay-acts-not', 'arguments are equal as JSON values, each digit of their numbers', async () => {
  expect(await answersTo(['{"id":9007199254740993}'], ['{"id":9007199254740992}'])).toEqual([null])
  expect(
    await answersTo(
      ['{"id":9007199254740992}', '{"id":9007199254740993,"a":[1.0]}', '{"no json', '{"no json'],
      ['{"a":[1],"id":9007199254740993}', '{"id":9007199254740992}', '{"no json', '{"no json', '{"no json'],
    ),
  ).toEqual(['result 1', 'result 0', 'result 2', 'result 3', null])
})
