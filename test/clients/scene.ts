/** A server with a key, an agent whose model the test plays, and everything that the server is asked. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAgent, startTestApp } from '../support/app.ts'
import { type DroppingProxy, startProxy } from '../support/network/proxy.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { deployUrl } from '../support/programs/product.ts'

export const apiKey = 'the-shared-key'
const authorization = { authorization: `Bearer ${apiKey}` }

/** The two ways to talk to an agent, told by the base URL alone. */
export type Kind = 'stateless' | 'session'

export interface Asked {
  /** Null until it is answered. */
  status: number | null
  lastEventId?: string | undefined
}

export type Scene = Awaited<ReturnType<typeof openScene>>

export async function openScene(settings: Record<string, string> = {}) {
  const up = await startUpstream()
  const app = await startTestApp({ settings: { PUBLIC_API_KEY: apiKey, PROVIDER_RETRIES: '0', ...settings } })
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const asked = watchRequests(app.url, '/chat/completions')
  const newSession = async (agent = agentId): Promise<string> => {
    const url = `${deployUrl(app.url, agent)}/sessions`
    const answer = await fetch(url, { method: 'POST', headers: authorization })
    return `${deployUrl('', agent)}/sessions/${Object(await answer.json()).id}`
  }
  return {
    app,
    up,
    agentId,
    asked: asked.list,
    newSession,
    /** A base URL of that kind; a session is a new one. */
    baseUrl: async (kind: Kind, agent = agentId) =>
      kind === 'stateless' ? deployUrl(app.url, agent) : `${app.url}${await newSession(agent)}`,
    proxy: (): Promise<DroppingProxy> => startProxy(app.url),
    /** What a session's base URL or path has stored. */
    async stored(session: string): Promise<{ role: string; content: string; status: string }[]> {
      const answer = await fetch(`${new URL(session, app.url)}/messages`, { headers: authorization })
      return Object(await answer.json()).messages
    },
    /** The next provider call says this, word by word. */
    says(...words: string[]): void {
      up.next(async (call) => {
        for (const word of words) await call.text(word)
        await call.finish('stop', { prompt_tokens: 7, completion_tokens: 2 })
      })
    },
    async close() {
      asked.stop()
      await app[Symbol.asyncDispose]()
      await up.close()
    },
  }
}

/** Every request at that origin whose path ends so, a client's own retries included, in order. */
export function watchRequests(origin: string, end: string): { list: Asked[]; stop(): void } {
  const list: Asked[] = []
  const port = Number(new URL(origin).port)
  const onStart = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse } // node:http's own
    if (request.socket.localPort !== port || !request.url?.endsWith(end)) return
    const entry: Asked = { status: null, lastEventId: request.headers['last-event-id']?.toString() }
    list.push(entry)
    response.once('finish', () => {
      entry.status = response.statusCode
    })
  }
  subscribe('http.server.request.start', onStart)
  return { list, stop: () => void unsubscribe('http.server.request.start', onStart) }
}
