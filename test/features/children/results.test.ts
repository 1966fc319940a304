/** The results of children, as the model is told them (contract section 30). */
import { expect } from 'vitest'
import { resultOf } from '../../../src/features/children/results.ts'
import { verifies } from '../../verifies.ts'

const ended = {
  sessionId: 's',
  state: 'ended' as const,
  content: 'Twelve.',
  finishReason: 'stop',
  errorCode: null,
  errorMessage: null,
}

verifies('contract-30.child-result', 'a text is cut at 256 KiB, between two characters', () => {
  const most = 256 * 1024
  const { ok, content } = resultOf({ ...ended, content: `x${'é'.repeat(most)}` })
  expect([ok, Buffer.byteLength(content)]).toEqual([true, most - 1])
  expect(content.endsWith('é')).toBe(true)
  expect(resultOf({ ...ended, content: 'x'.repeat(most) }).content).toHaveLength(most)
})

verifies('contract-30.child-result', 'the end is a sentence, the text so far follows it', () => {
  const failed = { ...ended, finishReason: 'error', errorCode: 'provider_error', errorMessage: 'It broke.' }
  expect(resultOf(failed)).toEqual({
    ok: false,
    content: "The agent's reply failed: provider_error: It broke. Its text so far:\nTwelve.",
  })
  expect(resultOf({ ...failed, content: '' }).content).toBe("The agent's reply failed: provider_error: It broke.")
  const deleted = { ...ended, state: 'deleted' as const }
  expect(resultOf({ ...deleted, content: null })).toEqual({ ok: false, content: "The agent's session was deleted." })
  expect(resultOf(deleted).content).toBe("The agent's session was deleted. Its text so far:\nTwelve.")
  expect(resultOf({ ...ended, content: null })).toEqual({ ok: true, content: 'The agent gave an empty answer.' })
})
