/** The official client, unmodified except for its base URL (specification 1, contract sections 1, 3 and 4). */
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { untilFollowed } from '../support/followers.ts'
import { type DroppingProxy, startProxy } from '../support/network/proxy.ts'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import type { Product } from '../support/programs/product.ts'
import { addAgent, demoAgent, deployUrl, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'

const apiKey = 'the-shared-key'
const authorization = { authorization: `Bearer ${apiKey}` }
const usage = { prompt_tokens: 7, completion_tokens: 2 }
const ask = (content: string) => ({ model: 'any', messages: [{ role: 'user' as const, content }] })

let product: Product
let proxy: DroppingProxy
let up: Upstream
let agent: string

beforeAll(async () => {
  product = await startProduct({ env: { PUBLIC_API_KEY: apiKey } })
})
afterAll(() => product?.[Symbol.asyncDispose]())
beforeEach(async () => {
  up = await startUpstream()
  proxy = await startProxy(product.url)
  agent = await addAgent(product, up.url)
})
afterEach(async () => {
  await proxy[Symbol.asyncDispose]()
  await up.close()
})

/** `requests` counts what the client sends, its own retries included. */
function clientFor(baseURL: string, key = apiKey) {
  const sent = { requests: 0 }
  const counting: typeof fetch = (input, init) => {
    sent.requests += 1
    return fetch(input, init)
  }
  return { sent, client: new OpenAI({ baseURL, apiKey: key, fetch: counting }) }
}

async function newSession(agentId = agent): Promise<string> {
  const answer = await fetch(`${deployUrl(product.url, agentId)}/sessions`, { method: 'POST', headers: authorization })
  return `${deployUrl('', agentId)}/sessions/${Object(await answer.json()).id}`
}

async function stored(session: string): Promise<{ role: string; content: string; status: string }[]> {
  const answer = await fetch(`${product.url}${session}/messages`, { headers: authorization })
  return Object(await answer.json()).messages
}

const two = (words: [string, string]) =>
  up.next(async (call) => {
    for (const word of words) await call.text(word)
    await call.finish('stop', usage)
  })

/** Base URLs of both modes. */
const modes = {
  stateless: async (agentId = agent) => deployUrl(proxy.url, agentId),
  session: async (agentId = agent) => `${proxy.url}${await newSession(agentId)}`,
}

describe.each(Object.entries(modes))('%s', (_, baseUrl) => {
  verifies('contract-9.demo', 'the demo agent answers, streamed or not, with an estimated usage', async () => {
    const { client } = clientFor(await baseUrl(demoAgent))
    const whole = await client.chat.completions.create(ask('/echo one two'))
    expect(whole.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'stop' })
    expect(whole.usage?.total_tokens).toBeGreaterThan(0)
    let text = ''
    const stream = await client.chat.completions.create({ ...ask('/echo three four'), stream: true })
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('three four')
  })

  verifies('spec-2.11.completion', 'a whole response has the text and the provider’s usage', async () => {
    two(['Hel', 'lo'])
    const { client } = clientFor(await baseUrl())
    const completion = await client.chat.completions.create(ask('hi'))
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      object: 'chat.completion',
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    })
    expect(up.calls).toHaveLength(1)
  })

  verifies('contract-3.usage-chunk', 'the stream helper assembles the reply, usage included', async () => {
    two(['Hel', 'lo'])
    const { client } = clientFor(await baseUrl())
    const deltas: string[] = []
    const stream = client.chat.completions
      .stream({ ...ask('hi'), stream_options: { include_usage: true } })
      .on('content', (delta) => deltas.push(delta))
    const final = await stream.finalChatCompletion()
    expect(deltas.join('')).toBe('Hello')
    expect(final.choices[0]).toMatchObject({ message: { content: 'Hello' }, finish_reason: 'stop' })
    expect(final.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 })
    expect(await stream.finalContent()).toBe('Hello')
    expect(up.calls).toHaveLength(1)
  })

  verifies('contract-1.retries', 'after the first text no call is retried; the client gets one error', async () => {
    up.always(async (call) => {
      await call.text('so far')
      call.end()
    })
    const { client, sent } = clientFor(await baseUrl())
    const chunks: string[] = []
    const read = async () => {
      const stream = await client.chat.completions.create({ ...ask('hi'), stream: true })
      for await (const chunk of stream) chunks.push(chunk.choices[0]?.delta.content ?? '')
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(chunks.join('')).toBe('so far')
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ code: 'provider_error', type: 'server_error' })
    expect([up.calls.length, sent.requests]).toEqual([1, 1])

    const whole = await client.chat.completions.create(ask('once more')).catch((error: unknown) => error)
    expect(whole).toBeInstanceOf(OpenAI.InternalServerError)
    expect([up.calls.length, sent.requests], 'x-should-retry: false').toEqual([2, 2])
  })

  verifies('contract-1.retries', 'before the first text the server retries; the client sees one reply', async () => {
    up.next((call) => call.error(503))
    up.next((call) => call.reset())
    two(['at ', 'last'])
    const { client, sent } = clientFor(await baseUrl())
    const completion = await client.chat.completions.create(ask('hi'))
    expect(completion.choices[0]?.message.content).toBe('at last')
    expect([up.calls.length, sent.requests]).toEqual([3, 1])
  })

  verifies('spec-7.1.errors', 'every status maps to the client’s own error class', async () => {
    const good = await baseUrl()
    const failure = (baseURL: string, body: object = {}, key = apiKey) => {
      const { client, sent } = clientFor(baseURL, key)
      return client.chat.completions.create({ ...ask('hi'), ...body }).then(
        () => expect.unreachable(),
        (error: unknown) => [error instanceof OpenAI.APIError ? error.constructor.name : error, sent.requests],
      )
    }
    expect(await failure(good, {}, 'wrong')).toEqual(['AuthenticationError', 1])
    expect(await failure(good, { messages: [] })).toEqual(['BadRequestError', 1])
    expect(await failure(good, { messages: [{ role: 'system', content: 'x' }] })).toEqual(['BadRequestError', 1])
    const nobody = '11111111-1111-4111-8111-111111111111'
    expect(await failure(good.replace(agent, nobody))).toEqual(['NotFoundError', 1])
    up.next((call) => call.error(401, { error: { message: 'no such key' } }))
    expect(await failure(good)).toEqual(['InternalServerError', 1])
    expect(up.calls).toHaveLength(1)
  })
})

verifies(
  'contract-3.stateless-disconnect',
  'a stateless stream that the client aborts stops the provider call',
  async () => {
    up.next(async (call) => {
      await call.text('Hel')
      await call.closed
    })
    const { client } = clientFor(await modes.stateless())
    const stream = client.chat.completions.stream(ask('hi'))
    stream.on('content', () => stream.abort())
    await expect(stream.done()).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    const call = await up.call(1)
    await call.closed
    expect(call.abandoned).toBe(true)
  },
)

verifies('spec-4.12.stateful', 'a session’s reply survives the client’s abort; the next turn knows it', async () => {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  up.next(async (call) => {
    await call.text('Hel')
    await left
    await call.text('lo')
    await call.finish()
  })
  const session = await newSession()
  const { client } = clientFor(`${proxy.url}${session}`)
  const stream = client.chat.completions.stream(ask('hi'))
  stream.on('content', () => stream.abort())
  await expect(stream.done()).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)

  const busy = clientFor(`${proxy.url}${session}`)
  const refused = await busy.client.chat.completions.create(ask('too early')).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(OpenAI.ConflictError)
  expect(busy.sent.requests, 'x-should-retry: false').toBe(1)
  leave()
  await expect.poll(() => stored(session)).toMatchObject([{ content: 'hi' }, { content: 'Hello', status: 'complete' }])

  two(['still', ' here'])
  const next = await client.chat.completions.create(ask('and now?'))
  expect(next.choices[0]?.message.content).toBe('still here')
  expect((await up.call(2)).body.messages).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'and now?' },
  ])
})

describe.each([
  ['streaming', true],
  ['not streaming', false],
])('%s', (_, isStream) => {
  const text = async (client: OpenAI) => {
    if (!isStream) return (await client.chat.completions.create(ask('buy milk'))).choices[0]?.message.content
    return await client.chat.completions.stream(ask('buy milk')).finalContent()
  }

  /** The response is lost in transit while the reply runs; the client's own retry then waits for `retry`. */
  async function loseFirstAnswer(retry: Promise<unknown>): Promise<{ session: string; answer: Promise<unknown> }> {
    const session = await newSession()
    const { client } = clientFor(`${proxy.url}${session}`)
    proxy.holdAnswers = true
    const answer = text(client)
    await up.call(1)
    await untilFollowed(product.url, session, 1)
    proxy.holdAnswers = false
    proxy.gate = retry
    proxy.drop()
    // The server has noticed the lost connection once the reply has no reader.
    await untilFollowed(product.url, session, 0)
    return { session, answer }
  }

  const milk = [
    { role: 'user', content: 'buy milk' },
    { role: 'assistant', content: 'bought it', status: 'complete' },
  ]

  verifies('contract-4.retry-join', 'a client that lost its connection joins the running reply', async () => {
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    const { promise: retry, resolve: letIn } = Promise.withResolvers<void>()
    up.next(async (call) => {
      await call.text('bought ')
      await goOn
      await call.text('it')
      await call.finish()
    })
    const { session, answer } = await loseFirstAnswer(retry)
    letIn()
    await untilFollowed(product.url, session, 1)
    resolve()
    expect(await answer).toBe('bought it')
    expect(up.calls).toHaveLength(1)
    expect(await stored(session)).toMatchObject(milk)
  })

  verifies(
    'contract-4.retry-join',
    'a client that lost its connection gets the reply that has ended meanwhile',
    async () => {
      const { promise: goOn, resolve: end } = Promise.withResolvers<void>()
      const { promise: retry, resolve: letIn } = Promise.withResolvers<void>()
      up.next(async (call) => {
        await goOn
        await call.text('bought it')
        await call.finish()
      })
      const { session, answer } = await loseFirstAnswer(retry)
      end()
      await expect.poll(() => stored(session)).toMatchObject(milk)
      letIn()
      expect(await answer).toBe('bought it')
      expect(up.calls).toHaveLength(1)
      expect(await stored(session)).toHaveLength(2)
    },
  )
})

verifies('contract-4.retry-join', 'a second message with the same text is not a retry', async () => {
  const session = await newSession()
  const { client } = clientFor(`${proxy.url}${session}`)
  two(['one', '.'])
  two(['two', '.'])
  const first = await client.chat.completions.create(ask('continue'))
  const second = await client.chat.completions.create(ask('continue'))
  expect([first, second].map(({ choices }) => choices[0]?.message.content)).toEqual(['one.', 'two.'])
  expect(await stored(session)).toHaveLength(4)
})
