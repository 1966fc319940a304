/** Contract section 25: a session that the server no longer knows is opened anew once. No call is made twice. */
import { expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { type Answer, good, never, offers, serve, unknown } from './mcp-by-hand.ts'

const transports = ['streamable_http', 'sse'] as const
const isJson = { 'content-type': 'application/json' }

const lost: [string, Answer][] = [
  ['-32001 under status 200', { error: { code: -32_001, message: 'Session not found' } }],
  ['an invalid request', { error: { code: -32_600, message: 'Unknown session ID' } }],
  ['status 500', { status: 500, text: '{"error":{"message":"Session expired, initialize again"}}' }],
  ['a server that was started anew', { error: { code: -32_000, message: 'Bad Request: Server not initialized' } }],
]
const lostBody = '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'
for (const [name, answer, transport] of [
  ...lost.flatMap(([name, answer]) => transports.map((transport) => [name, answer, transport] as const)),
  ['-32001 under status 200, as servers write it', { raw: lostBody, headers: isJson }, 'streamable_http'] as const,
]) {
  const title = `${name}: the session is opened anew, and the call made once: ${transport}`
  verifies('contract-25.mcp-sessions', title, async () => {
    let isLost = false
    let made = 0
    await using hand = await serve(
      (method): Answer => {
        if (method === 'tools/list') return offers([good])(method)
        if (method !== 'tools/call') return unknown
        if (isLost) {
          isLost = false
          return answer
        }
        made += 1
        return { result: { content: [{ type: 'text', text: 'done' }] } }
      },
      { transport },
    )
    await hand.mcp.tools(hand.server, never)
    isLost = true
    expect(await hand.mcp.call(hand.server, 'good', {}, never)).toEqual({ ok: true, content: 'done' })
    expect([made, hand.asked.filter((method) => method === 'initialize').length]).toEqual([1, 2])
  })
}

test('a session that is always lost is opened anew once, and then the words are told', async () => {
  await using hand = await serve((method) => {
    if (method === 'tools/list') return offers([good])(method)
    return method === 'tools/call' ? { error: { code: -32_001, message: 'Session not found' } } : unknown
  })
  await hand.mcp.tools(hand.server, never)
  const { content } = await hand.mcp.call(hand.server, 'good', {}, never)
  expect(content).toContain('Session not found')
  expect(hand.asked.filter((method) => method === 'tools/call')).toHaveLength(2)
})
