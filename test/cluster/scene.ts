/** Instances on a scripted vendor, and what all tests of several instances share. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { startUpstream, type Upstream, type UpstreamCall } from '../support/network/upstream.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../support/programs/cluster.ts'
import { addAgent, messagesOf, newSession, postJson, type WireMessage } from '../support/programs/product.ts'
import { openSse, type SseFrame, type SseStream } from '../support/streams/sse.ts'

interface Deployment {
  beside: string
  redis: boolean
}

/** With Redis and without: the rules are the same. */
export const both: [Deployment, Deployment] = [
  { beside: 'PostgreSQL alone', redis: false },
  { beside: 'Redis beside PostgreSQL', redis: true },
]

export interface Scene {
  cluster: Cluster
  up: Upstream
  agent: string
  close(): Promise<void>
}

/** With 1.5 s, instances on a busy machine lost their leases while tests talked to them. */
export const LEASE_MS = 3000

/** Open it in `beforeAll`; `close` also works when it is only partly open. */
export async function openScene(options: ClusterOptions): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const up = stack.use(await startUpstream())
  const env = { OWNER_LEASE_MS: `${LEASE_MS}`, ...options.env }
  const cluster = stack.use(await startCluster({ ...options, env }))
  const [first] = cluster.products
  if (!first) throw new Error('no instance')
  const agent = await addAgent(first, up.url)
  const kept = stack.move()
  return { cluster, up, agent, close: () => kept.disposeAsync() }
}

/** Has all instances run and drops the scripts. For `afterEach`: another try must not meet what a failed one has left. */
export async function mend({ cluster, up }: Scene): Promise<void> {
  up.forget()
  for (const [n, { child }] of cluster.products.entries())
    if (child.exitCode === null && child.signalCode === null) cluster.resume(n)
    else await cluster.restart(n)
}

export const say = (content: string, stream = true) => ({ messages: [{ role: 'user', content }], stream })

/** `words` words, one every `everyMs`, until the client leaves. */
export const talk =
  (words: number, everyMs: number) =>
  async (call: UpstreamCall): Promise<void> => {
    for (let n = 0; n < words && !call.abandoned; n++) {
      await call.text(`${call.number}.${n} é🙂 `)
      await pause(everyMs)
    }
    await call.finish()
  }

/** Sends `so far` and nothing more until the client disconnects. */
export const stall = async (call: UpstreamCall): Promise<void> => {
  await call.text('so far')
  await call.closed
}

export const completions = (url: string, session: string): string => `${url}${session}/chat/completions`
export const follow = (url: string, session: string): Promise<SseStream> =>
  openSse(`${completions(url, session)}/stream`)
export const cancel = (url: string, session: string): Promise<Response> =>
  postJson(`${completions(url, session)}/cancel`, {})

export interface Running {
  session: string
  /** The stream of the request that started the reply. */
  own: SseStream
  /** The streams of one follower on each other instance. */
  others: SseStream[]
  /** The URL of one of them. */
  elsewhere: string
}

/** A reply that runs on this instance; all streams have received its role and first text. */
export async function running({ cluster, agent }: Scene, owner: number): Promise<Running> {
  const otherUrls = cluster.urls.filter((_, n) => n !== owner)
  const elsewhere = otherUrls[0] ?? ''
  const session = await newSession(elsewhere, agent)
  const own = await openSse(completions(cluster.urls[owner] ?? '', session), say('hello'))
  expect(own.status).toBe(200)
  const others = await Promise.all(otherUrls.map((url) => follow(url, session)))
  for (const stream of [own, ...others]) for (let n = 0; n < 2; n++) expect(await stream.next()).not.toBeNull()
  return { session, own, others, elsewhere }
}

/** The code of an error chunk; null for any other frame. */
export const errorCode = (frame: SseFrame | undefined): string | null =>
  frame === undefined || frame.data === '[DONE]' ? null : (JSON.parse(frame.data).error?.code ?? null)

/** The session's newest message. */
export async function newest(url: string, session: string): Promise<WireMessage> {
  const message = (await messagesOf(url, session)).at(-1)
  if (message === undefined) throw new Error('no messages')
  return message
}

/** Sends a message and reads it to its end. Resolves to the status and the last frame. */
export async function exchange(url: string, session: string, text: string): Promise<[number, string | undefined]> {
  const stream = await openSse(completions(url, session), say(text))
  const { frames, broken } = await stream.rest()
  return [stream.status, broken ? 'broken' : frames.at(-1)?.data]
}
