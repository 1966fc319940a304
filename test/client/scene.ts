/** The client against the product, with a network between them that the test breaks. */
import { afterAll } from 'vitest'
import {
  type Client,
  type ClientOptions,
  createClient,
  type Reply,
  type ReplyEvent,
} from '../../packages/client/src/index.ts'
import { openScene, type SceneOptions } from '../http/scene.ts'
import { type DroppingProxy, startProxy } from '../support/network/proxy.ts'

/** Waits that make a test of many breaks short. */
export const hurried = { firstWaitMs: 20, longestWaitMs: 200 }

/** Call it at the head of a file; it is closed after the file's tests. */
export async function openClientScene(options: SceneOptions = {}) {
  const scene = await openScene(options)
  const proxy = await startProxy(scene.app.url)
  const clientFor = (own: Partial<ClientOptions> = {}): Client =>
    createClient({ baseUrl: proxy.url, reconnect: hurried, ...own })
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]()
    await scene.close()
  })
  const client = clientFor()
  return { ...scene, proxy, client, clientFor, agent: client.agent(scene.agentId) }
}

/** A network of its own, over which nothing comes back until `fail` cuts it; from then on it is a good one. */
export async function deafProxy(url: string): Promise<DroppingProxy & { fail(): void }> {
  const proxy = await startProxy(url)
  proxy.holdAnswers = true
  return Object.assign(proxy, {
    fail() {
      proxy.holdAnswers = false
      proxy.drop()
    },
  })
}

/** All events of a reply, and what it was rejected with in the end. */
export async function eventsOf(reply: Reply<unknown>): Promise<{ events: ReplyEvent[]; error: unknown }> {
  const events: ReplyEvent[] = []
  try {
    for await (const event of reply) events.push(event)
    return { events, error: null }
  } catch (error) {
    return { events, error }
  }
}

/** The text that a program would show. */
export const textOf = (events: readonly ReplyEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')
