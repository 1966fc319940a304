/** Those who follow a reply: from its beginning, while it runs, and across a lost connection. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { startProxy } from '../../support/network/proxy.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { openBrowser } from '../../ui/browser.ts'
import { verifies } from '../../verifies.ts'
import { compareRecorded, openSource } from '../matrix.ts'
import type { ResumeRow } from '../rows.ts'
import { apiKey, openScene, type Scene, watchRequests } from '../scene.ts'
import { browserSource, curlSource, type Heard, type Listener, type Source } from '../sources.ts'

const browser = await openBrowser()

let scene: Scene
beforeAll(async () => {
  scene = await openScene({ PUBLIC_API_KEY: '' })
})
// Answers that a failed test has left are not given to the next one.
beforeEach(() => scene.up.forget())
afterAll(async () => {
  await browser.close()
  await scene?.close()
})

const streamOf = (session: string, origin = scene.app.url) => `${origin}${session}/chat/completions/stream`

/** A session whose newest reply has begun and stands still after its first word. */
async function begin(): Promise<{ session: string; call: UpstreamCall; end(): Promise<void> }> {
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>()
  const number = scene.up.calls.length + 1
  scene.up.next(async (call) => {
    await call.text('Hel')
    await rest
    await call.text('lo')
    await call.finish()
  })
  const session = await scene.newSession()
  const answer = fetch(`${scene.app.url}${session}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] }),
  })
  const call = await scene.up.call(number)
  const end = async () => {
    goOn()
    await (await answer).text()
  }
  return { session, call, end }
}

const wordsOf = (frames: readonly Heard[]) =>
  frames.map(({ id, data }) => {
    const [choice] = data === '[DONE]' ? [] : JSON.parse(data).choices
    return [id, choice ? (choice.finish_reason ?? choice.delta.content ?? choice.delta.role) : data]
  })

const helloFrames = [
  ['1', 'assistant'],
  ['2', 'Hel'],
  ['3', 'lo'],
  ['4', 'stop'],
  ['5', '[DONE]'],
]
const hears = (listener: Listener) => expect.poll(async () => wordsOf(await listener.frames()))

describe.each<[string, Source]>([
  ['eventsource', await openSource('eventsource')],
  ['browser', browserSource(browser)],
  ['curl', curlSource()],
])('%s', (file, source) => {
  const cells: Partial<Record<ResumeRow, string>> = {}
  const { byItself, takesHeaders } = source

  verifies('spec-4.12.reconnect', 'a finished reply is heard from its beginning', async () => {
    const { session, end } = await begin()
    await end()
    const listener = await source.open(streamOf(session))
    await hears(listener).toEqual(helloFrames)
    await listener.close()
    cells.replay = 'yes'
  })

  verifies('spec-4.12.reconnect', 'a running reply is heard as it comes', async () => {
    const { session, end } = await begin()
    const listener = await source.open(streamOf(session))
    await hears(listener).toEqual(helloFrames.slice(0, 2))
    await end()
    await hears(listener).toEqual(helloFrames)
    await listener.close()
    cells.live = 'yes'
  })

  verifies('contract-4.resume', 'across a lost connection nothing is missed, nothing comes twice', async () => {
    await using proxy = await startProxy(scene.app.url)
    const asked = watchRequests(scene.app.url, '/chat/completions/stream')
    await using stack = new AsyncDisposableStack()
    stack.defer(() => asked.stop())
    const { session, end } = await begin()
    const first = await source.open(streamOf(session, proxy.url))
    await hears(first).toEqual(helloFrames.slice(0, 2))
    proxy.drop()
    await end()
    const again = byItself ? first : await source.open(streamOf(session, proxy.url), { 'Last-Event-ID': '2' })
    await hears(again).toEqual(byItself ? helloFrames : helloFrames.slice(2))
    await Promise.all([first.close(), again.close()].slice(byItself ? 1 : 0))
    expect(asked.list.map(({ lastEventId }) => lastEventId)).toEqual([undefined, '2'])
    cells.reconnect = byItself ? 'comes back by itself, at the next frame' : "by hand: `-H 'Last-Event-ID: 2'`"
  })

  verifies(
    'contract-4.resume',
    'after the end one that is not closed reconnects, and gets the last two frames',
    async () => {
      const asked = watchRequests(scene.app.url, '/chat/completions/stream')
      await using stack = new AsyncDisposableStack()
      stack.defer(() => asked.stop())
      const { session, end } = await begin()
      await end()
      const listener = await source.open(streamOf(session))
      // It goes on reconnecting, every 3 s.
      const heard = async () => wordsOf((await listener.frames()).slice(0, 7))
      if (byItself) await expect.poll(heard).toEqual([...helloFrames, ...helloFrames.slice(3)])
      else await expect.poll(() => listener.isOver()).toBe(true)
      await listener.close()
      if (byItself) expect(asked.list.length).toBeGreaterThan(1)
      else expect(asked.list).toHaveLength(1)
      cells.ended = byItself ? 'close it, or it reconnects every 3 s' : 'ends'
    },
  )

  verifies('contract-4.resume', 'a session without a reply stops it', async () => {
    const listener = await source.open(streamOf(await scene.newSession()))
    await expect.poll(() => listener.isOver()).toBe(true)
    expect(await listener.frames()).toEqual([])
    await listener.close()
    cells.nothing = byItself ? 'stops asking' : 'ends'
  })

  verifies('spec-5.1.bearer', 'where a key is set, it comes in a header', async () => {
    const { session, end } = await begin()
    await end()
    await using locked = await startTestApp({
      settings: { PUBLIC_API_KEY: apiKey },
      database: { url: scene.app.databaseUrl, sql: scene.app.sql, drop: async () => {} },
    })
    const listener = await source.open(streamOf(session, locked.url), { authorization: `Bearer ${apiKey}` })
    if (takesHeaders) await hears(listener).toEqual(helloFrames)
    else await expect.poll(() => listener.isOver()).toBe(true)
    expect(await listener.frames()).toHaveLength(takesHeaders ? 5 : 0)
    await listener.close()
    const how = byItself ? 'its `fetch` option adds the header' : "`-H 'Authorization: Bearer …'`"
    cells.key = takesHeaders ? how : 'cannot send it: 401; through your backend'
  })

  const { name, version } = source
  compareRecorded(file, () => ({ client: name, version, cells: { session: cells } }))
})
