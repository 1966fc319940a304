/** Contract section 16: what each model call was sent, rebuilt from references, beside what the upstream received. */
import { expect, onTestFinished } from 'vitest'
import { call } from '../../../http/scene.ts'
import { asks, says, startToolServer } from '../../../http/tool-scene.ts'
import * as anthropic from '../../../providers/native/anthropic-server.ts'
import * as gemini from '../../../providers/native/gemini-server.ts'
import { createAgent, startTestApp } from '../../../support/app.ts'
import { startUpstream, type Upstream } from '../../../support/network/upstream.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const key = 'sk-very-secret-1234567890'
const system = 'You are a careful guide, who looks before you speak.'
const found = `${'a long result of a tool, '.repeat(400)}which ends here`

interface Vendor {
  type: string
  model: string
  up: Upstream
  base: string
  /** Plays a turn with text and a call, and one with text alone. */
  looks(text: string, args: Record<string, unknown>): void
  speaks(text: string): void
}

const vendors: Record<string, () => Promise<Vendor>> = {
  'chat completions': async () => {
    const up = await startUpstream()
    return {
      type: 'openai-compatible',
      model: 'test-model',
      up,
      base: up.url,
      looks: (text, args) => up.next(asks(text, { name: 'look', arguments: JSON.stringify(args) })),
      speaks: (text) => up.next(says(text)),
    }
  },
  Anthropic: async () => {
    const up = await anthropic.startAnthropic()
    const thinking = 'What the model thinks before it calls is signed, and goes back as it came, in every later turn.'
    return {
      type: 'anthropic',
      model: 'claude-opus-5-5',
      up,
      base: up.base,
      looks: (text, input) =>
        up.next(
          anthropic.tells({ thinking, text: [text], calls: [{ id: `toolu_${up.calls.length}`, name: 'look', input }] }),
        ),
      speaks: (text) => up.next(anthropic.tells({ text: [text] })),
    }
  },
  Gemini: async () => {
    const up = await gemini.startGemini()
    return {
      type: 'gemini',
      model: 'gemini-3-flash',
      up,
      base: up.base,
      looks: (text, args) =>
        up.next(gemini.tells({ text: [text], calls: [{ name: 'look', args, thoughtSignature: 'c2ln'.repeat(30) }] })),
      speaks: (text) => up.next(gemini.tells({ text: [text] })),
    }
  },
}

async function open(vendor: Vendor, settings: Record<string, string> = {}) {
  const app = await startTestApp({ settings })
  const tools = await startToolServer(() => found)
  onTestFinished(async () => {
    await tools[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
    await vendor.up.close()
  })
  const { agentId, providerId } = await createAgent(app, { type: vendor.type, baseUrl: vendor.base, system })
  await app.sql`update agents set model = ${vendor.model} where id = ${agentId}`
  await call(`${app.url}/api/v1/settings/providers/${providerId}`, 'PUT', { apiKey: key })
  const inputSchema = { type: 'object', properties: { q: { type: 'string' }, $ref: { type: 'string' } } }
  const description = 'Looks for what is asked, and tells all that there is to tell.'
  const tool = { name: 'look', description, method: 'GET', url: tools.url, inputSchema }
  const made = await call(`${app.url}/api/v1/http-tools`, 'POST', tool)
  expect(made).toMatchObject({ status: 201 })
  const { id } = made.json
  const agent = `${app.url}/api/v1/agents/${agentId}`
  await call(`${agent}/tools`, 'PUT', { httpToolIds: [id], mcpServers: [], builtInToolIds: [] })
  const session = (await call(`${agent}/deploy/sessions`, 'POST', {})).json.id
  return {
    app,
    agentId,
    providerId,
    toolId: id,
    async say(content: string): Promise<string> {
      const body = { messages: [{ role: 'user', content }], stream: true }
      await (await openSse(`${agent}/deploy/sessions/${session}/chat/completions`, body)).rest()
      return (await call(`${agent}/deploy/sessions/${session}/messages`, 'GET')).json.messages.at(-1).id
    },
    requests: (reply: string) => call(`${app.url}/api/v1/debug/replies/${reply}/requests`, 'GET'),
  }
}

for (const [name, start] of Object.entries(vendors)) {
  verifies('contract-16.requests', `${name}: what is rebuilt is what the upstream received`, async () => {
    const vendor = await start()
    const { app, providerId, toolId, agentId, say, requests } = await open(vendor)
    vendor.looks('Let me look at it with care. ', { q: 'something that has more than a few letters', '@': ['m', 1] })
    vendor.looks('Once more, and then no more. ', { q: 'something else that has as many of them' })
    vendor.speaks('There it is: you see what I see.')
    const first = await say('Would you look at this for me, please?')
    vendor.looks('', { q: 'something that has more than a few letters' })
    vendor.speaks('As before.')
    const second = await say('And look again, at both of them?')
    const received = vendor.up.calls.map(({ body }) => body)
    expect(received).toHaveLength(5)
    // Whatever becomes of prompt and tool.
    await app.sql`update prompts set content = 'Another one.'`
    await app.sql`delete from http_tools where id = ${toolId}`
    const shown = [...(await requests(first)).json.requests, ...(await requests(second)).json.requests]
    expect(shown.map(({ body }) => body)).toEqual(received)
    expect(JSON.stringify(shown.map(({ body }) => body))).toBe(JSON.stringify(received))
    expect(shown.map(({ turn }) => turn)).toEqual([1, 2, 3, 1, 2])
    for (const one of shown) {
      expect(one).toMatchObject({ providerId, model: vendor.model, left: { messages: 0, tokens: 0 } })
      expect(Date.parse(one.at)).not.toBeNaN()
    }
    // By reference: what is stored elsewhere is not in it, and new words are there once.
    const rows = await app.sql<{ body: string }[]>`select requests::text as body from step_runs order by at`
    const text = rows.map(({ body }) => body).join('\n')
    for (const known of [
      'careful guide',
      'for me, please',
      'tells all that',
      'letters',
      'see what I see',
      'long result',
    ]) {
      expect(text).not.toContain(known)
    }
    expect(text.split('What the model thinks').length).toBeLessThanOrEqual(2 + 1)
    expect((await app.sql`select 1 from request_texts where content = ${system}`).count).toBe(1)
    // Gone with the session.
    await app.sql`delete from sessions where agent_id = ${agentId}`
    expect((await app.sql`select 1 from step_runs`).count).toBe(0)
    expect((await requests(first)).status).toBe(404)
  })
}

const chat = async () => {
  const vendor = await vendors['chat completions']?.()
  if (vendor === undefined) throw new Error('no vendor')
  return vendor
}

verifies('contract-16.requests', 'what did not fit is told, and secrets are masked', async () => {
  const vendor = await chat()
  const { say, requests } = await open(vendor, { HISTORY_MAX_TOKENS: '1000' })
  for (let n = 1; n <= 3; n++) {
    vendor.speaks('x'.repeat(1600))
    await say(`Message ${n}, whose key is ${key}.`)
  }
  vendor.speaks('Done.')
  const [request] = (await requests(await say('And now?'))).json.requests
  // 1,200 do not fit: of what is left when it is cut to 60 %, the newest turn alone.
  expect(request.left).toEqual({ messages: 4, tokens: expect.any(Number), reason: 'budget' })
  expect(request.left.tokens).toBeGreaterThanOrEqual(400)
  const masked = vendor.up.calls.at(-1)?.body.messages.map((one: { content: string }) => ({
    ...one,
    content: one.content.replaceAll(key, '[removed]'),
  }))
  expect(request.body.messages).toEqual(masked)
  expect(JSON.stringify(request)).not.toContain(key)
})

verifies('contract-16.requests', 'a turn is there once, as its last attempt sent it', async () => {
  const vendor = await chat()
  const { say, requests } = await open(vendor)
  const refusal = { error: { message: 'stream_options is not supported' } }
  vendor.up.next((one) => one.error(400, refusal))
  vendor.speaks('Fine.')
  const { json } = await requests(await say('Does it take all of it?'))
  expect(json.requests.map(({ body }: { body: unknown }) => body)).toEqual([vendor.up.calls[1]?.body])
  expect(vendor.up.calls[0]?.body).toHaveProperty('stream_options')
  expect(json.requests[0].body).not.toHaveProperty('stream_options')
})

verifies('contract-16.requests', 'what is gone meanwhile is named as gone', async () => {
  const vendor = await chat()
  const { app, say, requests } = await open(vendor)
  vendor.speaks('Fine.')
  const reply = await say('Is all of it there?')
  expect((await requests(reply)).status).toBe(200) // what it was sent is stored by now
  await app.sql`delete from request_texts`
  const [{ body }] = (await requests(reply)).json.requests
  expect([body.messages[0], body.tools]).toEqual([
    { role: 'system', content: '[gone: a prompt]' },
    '[gone: tool definitions]',
  ])
  expect(body.messages[1].content).toBe('Is all of it there?')
})

verifies('contract-16.requests-off', 'nothing is kept, and 404 names the setting', async () => {
  const vendor = await chat()
  const { app, say, requests } = await open(vendor, { TRACE_REQUESTS: 'off' })
  vendor.speaks('Fine.')
  const reply = await say('Is any of it there?')
  expect(await requests(reply)).toMatchObject({
    status: 404,
    json: { message: expect.stringContaining('TRACE_REQUESTS') },
  })
  const trace = await call(`${app.url}/api/v1/debug/replies/${reply}/trace`, 'GET')
  expect(trace.json.spans).toHaveLength(4)
  expect(
    (await app.sql`select 1 from step_runs where requests is not null union all select 1 from request_texts`).count,
  ).toBe(0)
})
