/** The transport for `useChat`: one stream over many connections, and a page that begins in the middle (issue 69). */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { expect } from 'vitest'
import { authorizedFetch, chatTransport } from '../../packages/client/src/index.ts'
import { withoutRepeats } from '../../packages/client/src/pages/without-repeats.ts'
import { verifies } from '../verifies.ts'
import { hurried, openClientScene } from './scene.ts'

const scene = await openClientScene()
const transport = () =>
  chatTransport<UIMessage, UIMessageChunk>({ baseUrl: scene.proxy.url, agent: scene.agentId, reconnect: hurried })
const sent = (chatId: string, text = 'hi', signal?: AbortSignal) => ({
  trigger: 'submit-message',
  chatId,
  messageId: undefined,
  messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] } as UIMessage],
  abortSignal: signal,
})
const ask = (...given: Parameters<typeof sent>) => transport().sendMessages(sent(...given))

/** Reads a stream as `useChat` does: the text that a page shows, and the error. */
async function shown(
  stream: ReadableStream<UIMessageChunk>,
  onText: (text: string) => void = () => {},
): Promise<{ text: string; error: string | null }> {
  let text = ''
  let error: string | null = null
  const onError = (thrown: unknown) => {
    error = thrown instanceof Error ? thrown.message : String(thrown)
  }
  for await (const { parts } of readUIMessageStream({ stream, onError })) {
    text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|')
    onText(text)
  }
  return { text, error }
}

verifies(
  'contract-12.chat-transport',
  'connections that break are gone on with: nothing is lost or comes twice',
  async () => {
    const playing = scene.byHand()
    let read = ''
    const reading = ask('trans/1').then((stream) =>
      shown(stream, (text) => {
        read = text
      }),
    )
    const provider = await playing
    let whole = ''
    for (let word = 0; word < 12; word++) {
      await provider.text(`word${word} `)
      whole += `word${word} `
      if (word % 3 !== 0) continue
      await expect.poll(() => read).toBe(whole)
      scene.proxy.drop()
    }
    await provider.finish()
    expect(await reading).toEqual({ text: whole, error: null })
    expect(await transport().load('trans/1')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: whole }] },
    ])
  },
)

verifies(
  'contract-12.chat-transport',
  'a reply that failed while the page was away ends in its error, once',
  async () => {
    const playing = scene.byHand()
    const reading = ask('trans-2').then(shown)
    const provider = await playing
    await provider.text('half ')
    scene.proxy.drop()
    provider.end()
    const { text, error } = await reading
    expect(text).toBe('half ')
    expect(error).toMatch(/provider/)
    const page = transport()
    const again = async () => {
      const stream = await page.reconnectToStream({ chatId: 'trans-2' })
      return stream && (await shown(stream))
    }
    expect(await again()).toBeNull() // nothing was loaded
    const [, stored] = await page.load('trans-2')
    expect(stored?.metadata).toMatchObject({ status: 'error', error: { message: error } })
    expect(await again()).toEqual({ text: '', error })
    expect(await again()).toBeNull()
    await page.load('trans-2')
    scene.says(['Better.'])
    await page.sendMessages(sent('trans-2', 'and now?')).then(shown)
    expect(await again()).toBeNull()
    expect((await page.load('trans-2')).length).toBe(4)
    expect(await again()).toBeNull()
  },
)

verifies(
  'contract-12.chat-transport',
  'a page that begins in the middle gets the whole reply, also one that ends before it asks for it',
  async () => {
    const playing = scene.byHand()
    void ask('trans-3').then(shown)
    const provider = await playing
    await provider.text('one ')
    const page = transport()
    await expect.poll(async () => (await page.load('trans-3')).map(({ role }) => role)).toEqual(['user'])
    await provider.text('two')
    await provider.finish()
    await expect.poll(async () => (await transport().load('trans-3')).length).toBe(2)
    const stream = await page.reconnectToStream({ chatId: 'trans-3' })
    expect(stream && (await shown(stream))).toEqual({ text: 'one two', error: null })
    expect(await transport().reconnectToStream({ chatId: 'trans-3' })).toBeNull()
    expect(await transport().load('trans-new')).toEqual([])
  },
)

verifies('contract-12.chat-transport', 'stop ends the reply, and a refusal is an error with its words', async () => {
  const playing = scene.byHand()
  const reading = ask('trans-4').then(shown)
  const provider = await playing
  await provider.text('half')
  await transport().stop('trans-4')
  expect(await reading).toEqual({ text: 'half', error: null })
  await expect(ask('x'.repeat(201))).rejects.toThrow(/^id/)
  const wrong = chatTransport({ baseUrl: scene.proxy.url, agent: scene.providerId })
  await expect(wrong.load('x')).rejects.toThrow('There is no such agent.')
})

verifies('contract-12.chat-transport', 'deltas that are divided in another way come once', () => {
  const repeats = withoutRepeats()
  const read = (...chunks: object[]) => {
    repeats.begin()
    return chunks.flatMap((chunk) => repeats.rest({ type: 'x', ...chunk })?.delta ?? [])
  }
  expect(read({}, { delta: 'ab' }, { delta: 'cd' })).toEqual(['ab', 'cd'])
  expect(read({}, { delta: 'abc' }, { delta: 'def' }, {}, { delta: 'g' })).toEqual(['ef', 'g'])
  expect(read({}, { delta: 'abcdef' }, {}, { delta: 'gh' }, {})).toEqual(['h'])
})

verifies(
  'contract-12.chat-transport',
  'authorizedFetch sends a secret, and a new one where it has expired',
  async () => {
    const sent: (string | null)[] = []
    const answers = [
      { status: 401, body: { error: { code: 'token_expired' } } },
      { status: 200, body: {} },
    ]
    const send: typeof fetch = async (_, init) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      const { status, body } = answers[sent.length - 1] ?? { status: 500, body: {} }
      return Response.json(body, { status })
    }
    let secret = 0
    const renewing = authorizedFetch(() => `s${++secret}`, send)
    expect((await renewing('http://x/', { headers: { a: 'b' } })).status).toBe(200)
    expect(sent).toEqual(['Bearer s1', 'Bearer s2'])
  },
)
