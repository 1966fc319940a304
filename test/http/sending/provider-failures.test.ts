/** Contract section 3: what callers are told when the model's vendor fails. */
import { afterAll, describe, expect, test } from 'vitest'
import { createAgent } from '../../support/app.ts'
import type { Script } from '../../support/network/upstream.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene } from '../scene.ts'

const scene = await openScene({ settings: { PROVIDER_RETRIES: '2' } })
afterAll(scene.close)

const hello = [{ role: 'user', content: 'Hello' }]
const chunkOf = (data: string | undefined) => JSON.parse(data ?? '{}')

interface Kind {
  script: Script
  code: string
  says: RegExp
}

const kinds: Record<string, Kind> = {
  'a bad request': {
    script: (one) => one.error(400, { error: { message: 'no such thing' } }),
    code: 'provider_error',
    says: /400.*no such thing/,
  },
  'refused credentials': {
    script: (one) => one.error(401, { error: { message: 'secret words' } }),
    code: 'provider_auth',
    says: /401/,
  },
  forbidden: {
    script: (one) => one.error(403, { error: { message: 'secret words' } }),
    code: 'provider_auth',
    says: /403/,
  },
  'a rate limit': {
    script: (one) => one.error(429, { error: { message: 'slow down' } }, { 'retry-after': '11' }),
    code: 'provider_rate_limited',
    says: /429.*slow down/,
  },
  'its own fault, retry forbidden': {
    script: (one) => one.error(500, { error: { message: 'broken' } }, { 'x-should-retry': 'false' }),
    code: 'provider_error',
    says: /500.*broken/,
  },
  'an error within the stream': {
    script: async (one) => {
      await one.text('Par')
      await one.data({ error: { message: 'overloaded', type: 'server_error' } })
      one.end()
    },
    code: 'provider_error',
    says: /overloaded/,
  },
  'no chat completion': {
    script: (one) => one.json('<html>hello</html>'),
    code: 'provider_error',
    says: /no chat completion/,
  },
  'a connection cut within the text': {
    script: async (one) => {
      await one.text('Par')
      one.reset()
    },
    code: 'provider_error',
    says: /connection|ended early/,
  },
  'an end without a finish': {
    script: async (one) => {
      await one.text('Par')
      one.end()
    },
    code: 'provider_error',
    says: /ended early/,
  },
}

describe.each(Object.entries(kinds))('%s', (_, { script, code, says }) => {
  const chunk = { error: { message: expect.stringMatching(says), type: 'server_error', code, param: null } }

  verifies(
    ['contract-3.error-chunk', 'spec-2.9.message'],
    'a session stream ends with {error} alone, its message with status error',
    async () => {
      scene.up.always(script)
      const id = await scene.newSession()
      const stream = await scene.stream(id, 'Hello')
      const { frames, broken } = await stream.rest()
      expect([stream.status, broken]).toEqual([200, false])
      expect(frames.map((frame) => frame.id)).toEqual(frames.map((_frame, index) => `${index + 1}`))
      expect(chunkOf(frames[0]?.data).choices[0].delta).toEqual({ role: 'assistant' })
      expect(chunkOf(frames.at(-1)?.data)).toEqual(chunk)
      expect(stream.raw()).not.toContain('[DONE]')
      expect(stream.raw()).not.toContain('event:')
      expect((await scene.messages(id)).at(-1)).toMatchObject({
        content: contentOf(frames.slice(0, -1)),
        status: 'error',
        finish_reason: 'error',
      })
      const again = await scene.resume(id, 50)
      await again.rest()
      expect(again.raw()).toBe(
        stream
          .raw()
          .split(/(?<=\n\n)/)
          .at(-1),
      )
    },
  )

  verifies('contract-3.error-chunk', 'a stateless stream too, without ids', async () => {
    scene.up.always(script)
    const { frames } = await (await scene.statelessStream('Hello')).rest()
    expect(chunkOf(frames.at(-1)?.data)).toEqual(chunk)
    expect(frames.every(({ id, event }) => id === undefined && event === undefined)).toBe(true)
  })

  verifies(
    ['contract-3.failed-unstreamed', 'spec-7.1.errors'],
    'without streaming it is 500 {error} with x-should-retry: false',
    async () => {
      scene.up.always(script)
      for (const answer of [await scene.stateless(hello), await scene.send(await scene.newSession(), 'Hello')]) {
        const { status, headers, json } = answer
        expect([status, headers.get('x-should-retry'), json]).toEqual([
          500,
          'false',
          { error: expect.stringMatching(says) },
        ])
      }
    },
  )
})

verifies('contract-3.failed-unstreamed', 'a provider that is not there is told without its address', async () => {
  const { agentId } = await createAgent(scene.app, { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' })
  const url = `${scene.app.url}/api/v1/agents/${agentId}/deploy/chat/completions`
  const { status, json } = await call(url, 'POST', { messages: hello })
  expect([status, json]).toEqual([500, { error: expect.stringContaining('connection') }])
  expect(json.error).not.toContain('127.0.0.1')
})

verifies('contract-3.provider-words', 'of refused credentials only kind and status are told', async () => {
  scene.up.always((one) => one.error(401, { error: { message: 'Incorrect API key: hunter22hunter22' } }))
  const { json } = await scene.stateless(hello)
  expect(json.error).not.toContain('hunter22')
})

verifies(
  'contract-3.provider-words',
  'words are cut at 500 characters and cleared of secrets and what looks like one',
  async () => {
    const name = `P ${crypto.randomUUID()}`
    const key = 'my-own-provider-key-123456'
    const made = await scene.call('POST', '/api/v1/settings/providers', {
      name,
      providerType: 'openai-compatible',
      baseUrl: scene.up.url,
      apiKey: key,
    })
    const agent = (await scene.call('POST', '/api/v1/agents', { name: 'K', providerId: made.json.id, model: 'm' })).json
      .id
    const ask = (extra: object = {}) =>
      scene.call('POST', `/api/v1/agents/${agent}/deploy/chat/completions`, { messages: hello, ...extra })
    const other = 'sk-abcdefghijklmnopqrstuvwxyz012345'
    scene.up.always((one) =>
      one.error(400, { error: { message: `refused: ${key} and ${other}, token=abcdef123456 ${'x '.repeat(1000)}` } }),
    )
    const { json } = await ask()
    expect(scene.up.calls.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
    expect(json.error).toContain('refused')
    for (const secret of [key, other, 'abcdef123456']) expect(json.error).not.toContain(secret)
    expect([...json.error].length).toBeLessThanOrEqual(500)
    const streamed = await ask({ stream: true })
    for (const secret of [key, other]) expect(streamed.text).not.toContain(secret)
  },
)

verifies('contract-3.finish-reason', 'in sessions length and content_filter are told and stored', async () => {
  for (const reason of ['length', 'content_filter']) {
    scene.says(['ab'], { reason })
    const id = await scene.newSession()
    const { frames } = await (await scene.stream(id, 'Hello')).rest()
    expect(chunkOf(frames.at(-2)?.data).choices[0].finish_reason).toBe(reason)
    expect((await scene.messages(id)).at(-1)).toMatchObject({ status: 'complete', finish_reason: reason })
  }
})

test('the demo provider fails in the same shapes', async () => {
  const { agentId } = await createAgent(scene.app)
  const url = `${scene.app.url}/api/v1/agents/${agentId}/deploy/chat/completions`
  const { status, json } = await call(url, 'POST', { messages: [{ role: 'user', content: '/fail' }] })
  expect([status, json]).toEqual([500, { error: expect.any(String) }])
})
