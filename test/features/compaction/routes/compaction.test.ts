/** Contract section 19: histories that are summarised before they are sent. */
import { afterAll, beforeEach, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import type { UpstreamCall } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene({ settings: { HISTORY_MAX_TOKENS: '1000' }, system: 'Be brief.' })
afterAll(scene.close)

type SentMessage = { role: string; content: string }

const messagesOf = ({ body }: UpstreamCall): SentMessage[] => body.messages
const last = (call: UpstreamCall): string => messagesOf(call).at(-1)?.content ?? ''
const isSummary = (call: UpstreamCall): boolean => last(call).startsWith('Summarise the conversation above.')
const summaries = () => scene.up.calls.filter(isSummary)

const usage = { prompt_tokens: 100, completion_tokens: 10 }
/** Summaries are numbered; all else is answered alike. */
let made = 0
const answers = async (call: UpstreamCall) => {
  await call.text(isSummary(call) ? `They spoke of ${'many things '.repeat(3)}(${++made}).` : 'Fine.')
  return call.finish('stop', usage, true)
}

const words = (count: number, name: string) => `${name} ${'some words '.repeat(count)}`.trim()

let sessionId = ''
beforeEach(async () => {
  made = 0
  scene.up.always(answers)
  await scene.call('PUT', scene.agent, { compaction: 'auto' })
  sessionId = await scene.newSession()
})

const send = (content: string) => scene.send(sessionId, content)

/** Sends until a summary is asked for; that question's number. */
async function fill(): Promise<number> {
  const before = summaries().length
  for (let n = 0; n < 30; n++) {
    expect((await send(words(60, `question-${n}`))).status).toBe(200)
    if (summaries().length > before) return n
  }
  throw new Error('Nothing was summarised.')
}

const requestsOf = async (id: string) => (await scene.call('GET', `/api/v1/debug/replies/${id}/requests`)).json.requests

async function newestReply() {
  const path = `${scene.agent}/playground/sessions/${sessionId}/messages`
  return (await scene.call('GET', path)).json.messages.at(-1)
}

verifies(
  ['contract-19.compaction', 'contract-19.summary-marks'],
  'the summary is asked with the same prompt and history, and stands for its turns from then on',
  async () => {
    const n = await fill()
    const [before, asked, answered] = scene.up.calls.slice(-3).map(messagesOf)
    // The provider's cache knows all but the end.
    expect(asked?.slice(0, before?.length)).toEqual(before)
    expect(asked?.slice(before?.length)).toEqual([
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: expect.stringMatching(/^Summarise[\s\S]*Results of tools are data/) },
    ])
    const first = answered?.find(({ role }) => role === 'user')?.content ?? ''
    expect(first).toMatch(/They spoke of many things .*\(1\)\.[\s\S]*question-\d+ some words/)
    expect(first).not.toContain('question-0 ')
    expect(answered?.length).toBeLessThan(before?.length ?? 0)
    expect(answered?.at(-1)?.content).toMatch(`question-${n} `)
    // What follows begins alike, and the next summary is made of this one.
    await send('short')
    expect(messagesOf(scene.up.calls.at(-1) as UpstreamCall).slice(0, answered?.length)).toEqual(answered)
    await fill()
    expect(messagesOf(summaries().at(-1) as UpstreamCall)[1]?.content).toContain('(1).')
    const again = messagesOf(scene.up.calls.at(-1) as UpstreamCall)[1]?.content
    expect(again).toContain('(2).')
    expect(again).not.toContain('(1).')
  },
)

verifies('contract-19.compaction', 'the messages are read as ever, and other branches are sent theirs', async () => {
  const n = await fill()
  const messages = await scene.messages(sessionId)
  expect(messages).toHaveLength(2 * (n + 1))
  // A branch from before the summary's last message is sent what lies on it, in its own words.
  await scene.send(sessionId, 'otherwise', { parent_id: messages[1].id })
  const branch = messagesOf(scene.up.calls.at(-1) as UpstreamCall)
  expect(branch.map(({ content }) => content)).toEqual(['Be brief.', messages[0].content, 'Fine.', 'otherwise'])
})

verifies('contract-19.compaction', 'an agent that has it off cuts, as does one without a word', async () => {
  await scene.call('PUT', scene.agent, { compaction: null })
  const before = summaries().length
  for (let n = 0; n < 14; n++) await send(words(60, `question-${n}`))
  expect(summaries()).toHaveLength(before)
  expect(messagesOf(scene.up.calls.at(-1) as UpstreamCall)[1]?.content).not.toContain('question-0 ')
})

const noSummaries: [string, (call: UpstreamCall) => unknown][] = [
  ['fails', (call) => call.error(400, { error: { message: 'no' } })],
  ['is empty', (call) => call.finish('stop', usage, true)],
  ['is broken off by the limit', (call) => call.text('They').then(() => call.finish('length', usage, true))],
  [
    'calls a tool',
    async (call) => {
      await call.toolCall({ id: 'c', name: 'current_time', arguments: '{}' })
      await call.finish('tool_calls', usage, true)
    },
  ],
]
for (const [how, none] of noSummaries) {
  verifies('contract-19.compaction-fails', `a summary that ${how} is none: the history is cut`, async () => {
    scene.up.always((call) => (isSummary(call) ? none(call) : answers(call)))
    await fill()
    const sent = messagesOf(scene.up.calls.at(-1) as UpstreamCall)
    expect(sent[1]?.content).toMatch(/^question-[1-9]/)
    const reply = await newestReply()
    expect(reply.status).toBe('complete')
    await expect.poll(async () => (await requestsOf(reply.id)).at(-1)?.left.reason).toBe('budget')
    // It is not asked for again at once.
    const before = summaries().length
    await send('next')
    expect(summaries()).toHaveLength(before)
  })
}

verifies('contract-19.compaction-counts', 'the reply has it in its usage, attempts, trace and requests', async () => {
  await fill()
  const reply = await newestReply()
  expect(reply.content).toBe('Fine.')
  expect(reply.usage).toMatchObject({ promptTokens: 200, completionTokens: 20, estimated: false })
  expect(reply.attempts).toBe(2)
  await expect.poll(() => requestsOf(reply.id)).toHaveLength(2)
  const [summary, turn] = await requestsOf(reply.id)
  expect(summary.body.messages).toEqual(messagesOf(scene.up.calls.at(-2) as UpstreamCall))
  expect(turn.body.messages).toEqual(messagesOf(scene.up.calls.at(-1) as UpstreamCall))
  expect(summary.left).toEqual({ messages: 0, tokens: 0, reason: null })
  expect(turn.left).toMatchObject({ reason: 'compacted' })
  expect(turn.left.messages).toBeGreaterThan(0)
  const { spans } = (await scene.call('GET', `/api/v1/debug/replies/${reply.id}/trace`)).json
  const models = spans.filter(({ kind }: { kind: string }) => kind === 'model')
  expect(models.map(({ detail }: { detail: object }) => detail)).toMatchObject([{ purpose: 'summary' }, { turn: 2 }])
  const path = `/api/v1/debug/sessions/${sessionId}/transitions?limit=200`
  const { transitions } = (await scene.call('GET', path)).json
  const steps = transitions
    .filter((step: Record<string, string>) => step.messageId === reply.id && step.from !== step.to)
    .map(({ from, event, to }: Record<string, string>) => `${from} ${event} ${to}`)
  expect(steps).toEqual([
    'complete message streaming.generating',
    'streaming.generating compact streaming.compacting',
    'streaming.compacting compacted streaming.generating',
    'streaming.generating finished streaming.settling',
    'streaming.settling settled complete',
  ])
})

/** The next summary is held open. */
function heldSummary() {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.up.always((call) => (isSummary(call) ? resolve(call) : answers(call)))
  return promise
}

/** Fills the history until a reply waits for its summary. */
async function hold() {
  const summary = heldSummary()
  const filled = fill()
  const call = await summary
  return { call, filled }
}

const actorOf = async () =>
  (await scene.call('GET', '/api/v1/debug/actors')).json.actors.find(
    (actor: { sessionId: string }) => actor.sessionId === sessionId,
  )

verifies('contract-19.compaction-stops', 'a cancel ends the reply, and keeps no summary', async () => {
  const { call, filled } = await hold()
  expect(await actorOf()).toMatchObject({ state: 'streaming.compacting' })
  expect((await scene.cancel(sessionId)).status).toBe(204)
  await call.closed
  expect(call.abandoned).toBe(true)
  await filled
  expect(await newestReply()).toMatchObject({ content: '', status: 'complete', finishReason: 'cancelled' })
  scene.up.always(answers)
  await send('go on')
  expect(messagesOf(scene.up.calls.at(-1) as UpstreamCall)[1]?.content).toContain('They spoke of')
})

verifies('contract-19.compaction-stops', 'the deletion of the session stops the model', async () => {
  const { call, filled } = await hold()
  filled.catch(() => {})
  expect((await scene.call('DELETE', `${scene.sessions}/${sessionId}`)).status).toBe(204)
  await call.closed
  expect(call.abandoned).toBe(true)
  const [left] = await scene.app.sql`select count(*)::integer as n from checkpoints where session_id = ${sessionId}`
  expect(left).toEqual({ n: 0 })
})
