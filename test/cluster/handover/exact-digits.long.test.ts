/**
 * Numbers keep their digits where another instance goes on: after a drain, in the queue, and with a decision (section
 * 35).
 */
import { afterEach, expect } from 'vitest'
import { parseExact } from '../../../src/untrusted/exact-json.ts'
import type { ToolFaults } from '../../faults/tool-faults.ts'
import { asks, says } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { newSession } from '../../support/programs/product.ts'
import { openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { completions, say } from '../scene.ts'
import { ask, openPair as openScene, type Pair } from './handover-scene.ts'

const DIGITS = '9007199254740993'
const OTHERS = '12345678901234567890123'
const schema = `{"type":"object","properties":{"id":{"const":${DIGITS}}}}`

let faults: ToolFaults | null = null
afterEach(async () => {
  await faults?.[Symbol.asyncDispose]()
  faults = null
})

const buys = asks('', { name: 'buy', arguments: `{"id":${DIGITS}}`, id: 'the-call' })
const buysOnce = (call: UpstreamCall) =>
  (call.body.messages.some(({ role }: { role: string }) => role === 'tool') ? says('Bought.') : buys)(call)

async function openPair(answer: () => Promise<string>): Promise<Pair> {
  const pair = await openScene('error', { answer, env: { DRAIN_TIMEOUT_S: '20' } })
  faults = pair
  pair.up.always(buysOnce)
  return pair
}

/** The call's arguments and its result as the model was told last. */
function told({ up }: Pair): [unknown, unknown] {
  const { messages } = up.calls.at(-1)?.body ?? {}
  const [called, result] = messages.slice(messages.findIndex(({ tool_calls: calls }: { tool_calls?: object }) => calls))
  return [called.tool_calls[0].function.arguments, result.content]
}

const sold = `{"order":${OTHERS},"price":1.50}`

verifies(
  'contract-35.digits',
  'a call whose reply is handed over, and the tools of a message in its queue',
  async () => {
    const gate = Promise.withResolvers<string>()
    const pair = await openPair(() => gate.promise)
    const session = await newSession(pair.first.url, pair.agentId())
    const stream = await ask(pair, session)
    await pair.shop.arrived(1)
    const format = `{"type":"json_schema","json_schema":{"name":"a","schema":${schema}}}`
    const mine = `{"type":"function","function":{"name":"mine","parameters":${schema}}}`
    const fields = Object(parseExact(`{"on_busy":"enqueue","response_format":${format},"tools":[${mine}]}`))
    const queued = await openSse(completions(pair.second.url, session), { ...say('next'), ...fields })
    const stopped = pair.first.stop('SIGTERM')
    await expect.poll(async () => (await fetch(`${pair.first.url}/readyz`)).status).toBe(503)
    gate.resolve(sold)
    await stream.rest()
    await queued.rest()
    await stopped
    expect(pair.shop.requests.map(({ body }) => body)).toEqual([`{"id":${DIGITS}}`])
    expect(told(pair)).toEqual([`{"id":${DIGITS}}`, expect.stringContaining(sold)])
    const { tools, response_format: asked } = pair.up.calls.at(-1)?.body ?? {}
    expect(JSON.stringify([tools, asked]).split(`"const":${DIGITS}`)).toHaveLength(3)
  },
)

verifies('contract-35.digits', 'a call that waits is decided at the instance that is left', async () => {
  const pair = await openPair(async () => sold)
  await pair.second.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: pair.agentId() } },
    body: { approvals: ['buy'] },
  })
  const session = await newSession(pair.first.url, pair.agentId())
  await (await ask(pair, session)).rest()
  await pair.first.stop('SIGKILL')
  const shown = await (await fetch(pair.second.url + session)).text()
  expect(shown).toContain(DIGITS)
  const answered = await fetch(`${pair.second.url}${session}/actions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"decisions":[{"call_id":"the-call","decision":"approve","arguments":{"id":${OTHERS}}}]}`,
  })
  expect(answered.status).toBe(200)
  expect(pair.shop.requests.map(({ body }) => body)).toEqual([`{"id":${OTHERS}}`])
  expect(told(pair)[1]).toContain(sold)
})
