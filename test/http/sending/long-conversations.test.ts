/** Contract section 19: conversations that outgrow their model, in sessions. */
import { afterAll, beforeEach, expect } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene({ settings: { HISTORY_MAX_TOKENS: '2000' } })
afterAll(scene.close)

const contents = ({ body }: UpstreamCall): string[] => body.messages.map(({ content }: { content: string }) => content)
const lengthOf = (call: UpstreamCall): number => contents(call).join('').length

/** A model that takes so many characters, and says no number. */
const takes = (characters: number) => async (call: UpstreamCall) => {
  if (lengthOf(call) > characters) {
    return call.error(400, { error: { message: 'Your input exceeds the context window of this model.' } })
  }
  await call.text('Fine.')
  return call.finish('stop', null)
}

const words = (count: number, name: string) => `${name} ${'some words '.repeat(count)}`.trim()

let sessionId = ''
beforeEach(async () => {
  sessionId = await scene.newSession()
})
const send = (content: string, headers: Record<string, string> = {}) => scene.send(sessionId, content, {}, headers)
const newest = () => {
  const call = scene.up.calls.at(-1)
  if (!call) throw new Error('nothing was asked')
  return call
}

verifies(
  'contract-19.too-long',
  'a conversation that outgrows an unnamed limit is answered, and stays cut where it was cut',
  async () => {
    scene.up.always(takes(2000))
    for (let n = 0; n < 6; n++) expect((await send(words(30, `question-${n}`))).status).toBe(200)
    const before = scene.up.calls.length
    expect((await send(words(30, 'question-6'))).status).toBe(200)
    const calls = scene.up.calls.slice(before)
    expect(calls.length).toBeLessThanOrEqual(2)
    expect(contents(newest()).at(-1)).toMatch(/^question-6/)
    // The next one begins where the last one did, and is not refused.
    const first = contents(newest())[0]
    expect((await send('short')).status).toBe(200)
    expect(scene.up.calls).toHaveLength(before + calls.length + 1)
    expect(contents(newest())[0]).toBe(first)
  },
)

verifies(
  'contract-19.too-long',
  'a question that is itself too long is 400, stored and joined by its key, and the next one is answered',
  async () => {
    scene.up.always(takes(2000))
    await send('hello')
    const huge = words(400, 'huge')
    const key = { 'idempotency-key': 'k-1' }
    const refused = await send(huge, key)
    expect(refused.status).toBe(400)
    expect(refused.json).toEqual({
      error: {
        message: expect.stringContaining('exceeds the context window'),
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
        param: 'messages',
      },
    })
    expect(refused.headers.get('x-should-retry')).toBe('false')
    const before = scene.up.calls.length
    expect((await send(huge, key)).json).toEqual(refused.json)
    expect(scene.up.calls).toHaveLength(before)
    expect((await send('still there?')).status).toBe(200)
    expect(contents(newest()).at(-1)).toBe('still there?')
    expect(contents(newest()).join(' ')).not.toContain('huge')
    const messages = await scene.messages(sessionId)
    expect(messages.map(({ status }: { status: string }) => status)).toEqual([
      ...['complete', 'complete', 'complete', 'error', 'complete', 'complete'],
    ])
  },
)

verifies(
  'contract-19.budget',
  'above the budget a session begins alike from reply to reply, in all but few of them',
  async () => {
    scene.up.always(takes(Number.POSITIVE_INFINITY))
    const firsts: (string | undefined)[] = []
    for (let n = 0; n < 40; n++) {
      await send(words(50, `question-${n}`))
      firsts.push(contents(newest())[0])
    }
    const cuts = firsts.filter((first, index) => index > 0 && first !== firsts[index - 1]).length
    expect(cuts).toBeGreaterThan(0)
    expect(cuts).toBeLessThanOrEqual(6)
  },
)

verifies('contract-19.budget', 'what was left out is named with its reason in the requests of a reply', async () => {
  scene.up.always(takes(Number.POSITIVE_INFINITY))
  for (let n = 0; n < 18; n++) await send(words(60, `question-${n}`))
  const replies = (await scene.messages(sessionId)).filter(({ role }: { role: string }) => role === 'assistant')
  const leftOf = async (id: string) =>
    (await scene.call('GET', `/api/v1/debug/replies/${id}/requests`)).json.requests[0].left
  await expect.poll(() => leftOf(replies[0].id)).toEqual({ messages: 0, tokens: 0, reason: null })
  await expect
    .poll(() => leftOf(replies.at(-1).id))
    .toEqual({ messages: expect.any(Number), tokens: expect.any(Number), reason: 'budget' })
})

verifies(
  'contract-19.budget',
  'a stateless history is held to it, begins alike, and is sent as it was given',
  async () => {
    scene.up.always(takes(Number.POSITIVE_INFINITY))
    const messages: { role: string; content: string }[] = []
    const firsts = new Set<string | undefined>()
    for (let n = 0; n < 30; n++) {
      messages.push({ role: 'user', content: words(50, `question-${n}`) })
      await scene.stateless(messages)
      firsts.add(contents(newest())[0])
      messages.push({ role: 'assistant', content: 'Fine.' })
    }
    expect(firsts.size).toBeGreaterThan(1)
    expect(firsts.size).toBeLessThanOrEqual(6)
    const apart = [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ]
    await scene.stateless(apart)
    expect(newest().body.messages).toEqual(apart)
  },
)

verifies('contract-19.budget', "an agent's own budget wins over the installation's", async () => {
  scene.up.always(takes(Number.POSITIVE_INFINITY))
  await scene.call('PUT', scene.agent, { historyMaxTokens: 50_000 })
  for (let n = 0; n < 20; n++) await send(words(60, `question-${n}`))
  expect(contents(newest())[0]).toMatch(/^question-0 /)
  await scene.call('PUT', scene.agent, { historyMaxTokens: null })
  await send('next')
  expect(contents(newest())[0]).not.toMatch(/^question-0 /)
})
