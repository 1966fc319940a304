/** Contract section 25: a session that the server no longer knows is opened anew once. No call is made twice. */
import { expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { type Answer, good, never, offers, serve, unknown } from './mcp-by-hand.ts'

const transports = ['streamable_http', 'sse'] as const
const done = { result: { content: [{ type: 'text', text: 'done' }] } }
const says = (message: string, code = -32_000): Answer => ({ error: { code, message } })

const lost: [string, Answer][] = [
  ['-32001 under status 200', says('Session not found', -32_001)],
  ['an invalid request', says('Unknown session ID', -32_600)],
  ['status 500', { status: 500, text: '{"error":{"message":"Session expired, initialize again"}}' }],
  ['a server that was started anew', says('Bad Request: Server not initialized')],
  ['no such session', says('No such session', -32_001)],
  ['status 500, no such session', { status: 500, text: 'No such session' }],
  ['a session that does not exist', says("Session doesn't exist")],
  ['a session that could not be found', says('Could not find session')],
  ["the SDK's own words", says('Bad Request: No valid session ID provided')],
  ['a server session', says('Server session not found')],
  ['the session that was provided', says('The provided session does not exist')],
  ['the name of a field', says('sessionId 123 not found', -32_001)],
  ['the name of a header', says('Mcp-Session-Id header is invalid')],
]
const lostBody = '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'
const isJson = { 'content-type': 'application/json' }
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
        return done
      },
      { transport },
    )
    await hand.mcp.tools(hand.server, never)
    isLost = true
    expect(await hand.mcp.call(hand.server, 'good', {}, never)).toEqual({ ok: true, content: 'done' })
    expect([made, hand.asked.filter((method) => method === 'initialize').length]).toEqual([1, 2])
  })
}

/** What a tool may say too, or what may come in the middle of a call. */
const unclear: [string, Answer][] = [
  ['an internal error', says('Session not found', -32_603)],
  ['an error without a code', { error: { message: 'Session not found' } }],
  ['a session that was closed', says('Session closed')],
  ['a session that has ended', says('The session has ended')],
  ['a session that timed out', says('session timed out')],
  ['a session of something else', says('Shopping session not found')],
]
for (const [name, answer] of unclear) {
  const asked = async (pings: Answer) => {
    let isLost = false
    await using hand = await serve((method): Answer => {
      if (method === 'tools/list') return offers([good])(method)
      if (method === 'ping') return pings
      if (method !== 'tools/call') return unknown
      isLost = !isLost
      return isLost ? answer : done
    })
    await hand.mcp.tools(hand.server, never)
    const call = () => hand.mcp.call(hand.server, 'good', {}, never)
    const contents = [(await call()).ok, (await call()).content]
    return { contents, asked: hand.asked.filter((method) => method === 'initialize' || method === 'tools/call') }
  }

  verifies(
    'contract-25.mcp-sessions',
    `${name}: where a ping is refused too, the next call opens a session, and none is repeated`,
    async () => {
      const { contents, asked: sent } = await asked(answer)
      expect(contents).toEqual([false, 'done'])
      expect(sent).toEqual(['initialize', 'tools/call', 'initialize', 'tools/call'])
    },
  )

  test(`${name}: where a ping is answered, a tool has spoken, and the session is kept`, async () => {
    for (const pings of [{ result: {} }, says('Method not found', -32_601)]) {
      const { contents, asked: sent } = await asked(pings)
      expect(contents).toEqual([false, 'done'])
      expect(sent).toEqual(['initialize', 'tools/call', 'tools/call'])
    }
  })
}

test('a session that is always lost is opened anew once, and then the words are told', async () => {
  await using hand = await serve((method) => {
    if (method === 'tools/list') return offers([good])(method)
    return method === 'tools/call' ? says('Session not found', -32_001) : unknown
  })
  await hand.mcp.tools(hand.server, never)
  const { content } = await hand.mcp.call(hand.server, 'good', {}, never)
  expect(content).toContain('Session not found')
  expect(hand.asked.filter((method) => method === 'tools/call')).toHaveLength(2)
})
