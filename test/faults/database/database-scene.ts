/** The whole service, a scripted model vendor, and a proxy to PostgreSQL that can fail. */

import { connect } from '../../../src/persistence/postgres/database.ts'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { startUpstream, type Upstream } from '../../support/network/upstream.ts'
import { contentOf, openSse, type SseStream } from '../../support/streams/sse.ts'
import { type DatabaseProxy, openProxy } from './database-proxy.ts'

export interface OutageScene extends AsyncDisposable {
  app: TestApp
  proxy: DatabaseProxy
  upstream: Upstream
  /** URL of `…/deploy/sessions`, and of a new session's completions. */
  sessions: string
  newSession(): Promise<string>
  send(session: string, text: string, wanted?: object): Promise<SseStream>
  /** All frames of a resume from this id. */
  resume(session: string, lastEventId?: string): Promise<{ status: number; frames: SseStream['frames'] }>
  messages(session: string): Promise<{ role: string; content: string; status: string; finish_reason: string | null }[]>
  status(path: string, init?: RequestInit): Promise<{ status: number; body: unknown }>
}

export async function openOutage(settings: Record<string, string> = {}, databaseUrl?: string): Promise<OutageScene> {
  const direct = databaseUrl === undefined ? await freshDatabase() : existing(databaseUrl)
  const upstream = await startUpstream()
  const proxy = await openProxy(direct.url)
  const app = await startTestApp({
    database: { ...direct, url: proxy.url },
    settings: { PROVIDER_RETRIES: '0', ...settings },
  })
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: upstream.url })
  const sessions = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const json = async (response: Response): Promise<unknown> =>
    await response.text().then((text) => (text === '' ? null : JSON.parse(text)))
  return {
    app,
    proxy,
    upstream,
    sessions,
    async newSession() {
      const response = await fetch(sessions, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      const { id } = (await json(response)) as { id: string }
      return `${sessions}/${id}`
    },
    send: (session, text, wanted = {}) =>
      openSse(`${session}/chat/completions`, { messages: [{ role: 'user', content: text }], stream: true, ...wanted }),
    async resume(session, lastEventId) {
      const stream = await openSse(
        `${session}/chat/completions/stream`,
        undefined,
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
      )
      await stream.rest()
      return { status: stream.status, frames: stream.frames }
    },
    async messages(session) {
      const body = (await json(await fetch(`${session}/messages`))) as {
        messages: Awaited<ReturnType<OutageScene['messages']>>
      }
      return body.messages
    },
    async status(path, init) {
      const response = await fetch(path.startsWith('http') ? path : app.url + path, init)
      return { status: response.status, body: await json(response) }
    },
    async [Symbol.asyncDispose]() {
      proxy.restore()
      await app.stop()
      await upstream.close()
      await proxy[Symbol.asyncDispose]()
      await direct.drop()
    },
  }
}

/** A database created by the test itself. */
function existing(url: string): FreshDatabase {
  const sql = connect(url, { max: 2, name: 'test', timeoutMs: 0 })
  return { url, sql, drop: () => sql.end() }
}

export const idsOf = (frames: SseStream['frames']): number[] => frames.map(({ id }) => Number(id))

export const countTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1)

/** Reads until the text shown so far ends with `end`. */
export async function readUntil(stream: SseStream, end: string): Promise<void> {
  while (!contentOf(stream.frames).endsWith(end)) {
    if ((await stream.next()) === null) throw new Error(`the stream ended before "${end}"`)
  }
}
