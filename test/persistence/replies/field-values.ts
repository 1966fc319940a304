/** A value of its own for every field of an admission and of a settlement, and the column that has it. */
import { expect } from 'vitest'
import type { MessagePart, Settlement } from '../../../src/actors/ports/index.ts'
import type { admissionColumns } from '../../../src/persistence/replies/admission/admission.ts'
import type { outcomeColumns } from '../../../src/persistence/replies/settling/stored-outcome.ts'
import type { reasoningColumns } from '../../../src/persistence/replies/settling/stored-reply.ts'
import { finished, reasoningAt, textAt, toolCallAt } from '../scene.ts'
import { waits } from './together-scene.ts'

type Keys<T> = T extends unknown ? keyof T : never
type SettledKey = Keys<ReturnType<typeof outcomeColumns>> | Keys<ReturnType<typeof reasoningColumns>>
export type AdmittedKey = Keys<ReturnType<typeof admissionColumns>>

const usage = { promptTokens: 101, completionTokens: 102, estimated: false }
const calls = [{ id: 'c', name: 'look', arguments: '{}' }]
const figures = { firstTokenMs: 103, durationMs: 104, attempts: 105 }
const call = toolCallAt(3, 1, 'c')
const settledStep = { sessionId: '', at: new Date(), from: 'streaming.settling', to: 'complete', event: 'settled' }
const both: Partial<Settlement> = {
  events: [textAt(2, 'said'), reasoningAt(3, 'thought'), call],
  endedAt: new Date('2026-01-02T03:04:05.000Z'),
  requesterLost: true,
  reasoningMs: 106,
  figures,
  title: 'A title of its own',
  steps: [{ ...settledStep, messageId: null, detail: { attempts: 105 } }],
}
const error = { code: 'provider_timeout', message: 'It took too long.', detail: 'It took 99 s.' } as const
export const settlements = {
  waiting: finished({
    ...both,
    outcome: { type: 'finished', reason: 'tool_calls', usage, calls },
    waiting: waits.waiting,
  }),
  failed: finished({ ...both, outcome: { type: 'failed', error, usage } }),
}

/** By key: the column that has it and what it is there, after one of both settlements. */
export const settled = {
  finish_reason: ['messages.finish_reason', { waiting: 'tool_calls', failed: 'error' }],
  error_code: ['messages.error_code', { waiting: null, failed: error.code }],
  error_message: ['messages.error_message', { waiting: null, failed: error.message }],
  error_detail: ['messages.error_detail', { waiting: null, failed: error.detail }],
  prompt_tokens: ['messages.prompt_tokens', 101],
  completion_tokens: ['messages.completion_tokens', 102],
  usage_estimated: ['messages.usage_estimated', false],
  ended_at: ['messages.ended_at', '2026-01-02T03:04:05+00:00'],
  requester_lost: ['messages.requester_lost', true],
  reasoning_ms: ['messages.reasoning_ms', 106],
  facts: ['messages.facts', expect.objectContaining(figures)],
  title: ['sessions.title', 'A title of its own'],
  shown_calls: ['messages.shown_calls', { waiting: calls, failed: null }],
  waiting: ['waits.carried', { waiting: expect.stringContaining('"version":1'), failed: undefined }],
  reasoning: ['messages.reasoning', 'thought'],
  reasoning_frames: ['messages.reasoning_frames', [2]],
  reasoning_ends: ['messages.reasoning_ends', [7]],
  steps: ['step_runs.told', '[[null,"",".settling","complete","settled",{"attempts":105}]]'],
} satisfies Record<SettledKey, readonly [string, unknown]>

/** Values that the statements take or set beside these keys. */
export const beside = {
  'messages.content': 'said',
  'messages.frame_ends': [4, 4],
  'messages.tool_events': [call],
  'messages.settled_at': expect.any(String),
  'messages.status': { waiting: 'complete', failed: 'error' },
  'sessions.next_seq': 777,
}

export const part: MessagePart = {
  type: 'file',
  sha256: 'ab'.repeat(32),
  mediaType: 'text/plain',
  filename: 'a.txt',
  size: 3,
  detail: null,
  sourceUrl: null,
  place: 2,
  async *read() {},
}
export const facts = {
  providerId: '01a2140a-3896-7659-8099-c38327a48508',
  prompt: { id: 'p', name: 'Prompt', sha256: 'ab' },
  overrides: { seed: 1 },
}
export const hash = Buffer.from('a hash of a body')

/** By key: its column, or what it decides instead, which other tests hold. `u.`: of the user's message. */
export const admitted = {
  agent_id: 'decides: whose session it must be',
  session_id: 'messages.session_id',
  end_user: 'decides: whose session it must be',
  user_id: 'u.id',
  reply_id: 'messages.id',
  model: 'messages.model',
  include_usage: 'messages.include_usage',
  key: 'idempotency_keys.key',
  body_hash: 'idempotency_keys.body_hash',
  is_retry: 'decides: whether it joins',
  may_start: 'decides: whether it only joins',
  pin: 'decides: whether the session is pinned to another version',
  configuration: 'decides: whether it is stale',
  make_session: 'decides: whether a session is made',
  external_id: 'decides: by what a session that is made is found',
  begins: 'decides: what a session that is made holds before it',
  derived_title: 'decides: the title of a session without one',
  title_is_draft: 'decides: whether a model replaces it',
  secret_number: 'decides: whether the secret is revoked',
  parts: 'message_parts.filename',
  decided_by: 'decides: who rejects what waits',
  place: 'messages.asked_place',
  facts: 'messages.facts',
  texts: 'decides: what the session holds besides; see kept-texts.test.ts',
  on_busy: 'decides: what it does while a reply runs',
  may_queue: 'decides: whether it may wait',
  input: 'queued_messages.input',
  uses_values: 'decides: whether values of the session are told',
  history: 'decides: whether what stands before it is told',
  limits: 'decides: whether it is admitted; what it counts is in tables of its own',
  wait_id: 'messages.continues',
  decisions: 'decides: what becomes of calls that wait',
  answers: 'decides: what becomes of calls that wait',
  decisions_hash: 'messages.decisions_hash',
  in_part: 'decides: whether other calls may be left',
  max_session_bytes: 'decides: whether the session has room',
  max_user_bytes: 'decides: whether its user has room',
  max_user_sessions: 'decides: whether its user may have one more session',
} satisfies Record<AdmittedKey, string>
