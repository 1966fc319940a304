/** The whole product over real sockets, with an agent whose provider is played by the test. */
import { createAgent, sharedApp, startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type Upstream, type UpstreamCall, type UpstreamUsage } from '../support/network/upstream.ts'
import { openSse, type SseStream } from '../support/streams/sse.ts'

export const nobody = '11111111-1111-4111-8111-111111111111'
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** Null when the body is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
  json: any
}

/** One request; a string or bytes as body go as they are, all else as JSON. */
export async function call(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export interface SceneOptions {
  /** Of an app for this scene alone. Without them it is the one that all files of a process share. */
  settings?: Record<string, string>
  system?: string | null
  config?: object
  /** Set on the provider; true by default. */
  reportsUsage?: boolean
}

export type Scene = Awaited<ReturnType<typeof openScene>>

/** `const scene = await openScene()` at the head of a file, `afterAll(scene.close)`. */
export async function openScene(options: SceneOptions = {}) {
  const { settings, system = null, config = {}, reportsUsage = true } = options
  const up = await startUpstream({ reportsUsage })
  const app = settings ? await startTestApp({ settings }) : await sharedApp()
  const { agentId, providerId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url, system, config })
  const agent = `/api/v1/agents/${agentId}`
  const sessions = `${agent}/deploy/sessions`
  const completions = (id: string) => `${app.url}${sessions}/${id}/chat/completions`
  const user = (content: string) => ({ messages: [{ role: 'user', content }] })
  return {
    app,
    up,
    agentId,
    providerId,
    /** `/api/v1/agents/<id>` */
    agent,
    /** `…/deploy/sessions` */
    sessions,
    call: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      call(`${app.url}${path}`, method, body, headers),
    /** A new session's id. */
    async newSession(title?: string): Promise<string> {
      return (await call(`${app.url}${sessions}`, 'POST', title === undefined ? {} : { title })).json.id
    },
    /** A message whose whole reply is waited for. */
    send: (id: string, text: string, extra: object = {}, headers: Record<string, string> = {}) =>
      call(completions(id), 'POST', { ...user(text), ...extra }, headers),
    /** A message whose reply is streamed. */
    stream: (id: string, text: string, extra: object = {}, headers: Record<string, string> = {}): Promise<SseStream> =>
      openSse(completions(id), { ...user(text), stream: true, ...extra }, headers),
    resume: (id: string, lastEventId?: number | string): Promise<SseStream> =>
      openSse(
        `${completions(id)}/stream`,
        undefined,
        lastEventId === undefined ? {} : { 'last-event-id': `${lastEventId}` },
      ),
    cancel: (id: string) => call(`${completions(id)}/cancel`, 'POST'),
    // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
    async messages(id: string): Promise<any[]> {
      return (await call(`${app.url}${sessions}/${id}/messages`, 'GET')).json.messages
    },
    /** Stateless: all messages in one request. */
    stateless: (messages: unknown, extra: object = {}, headers: Record<string, string> = {}) =>
      call(`${app.url}${agent}/deploy/chat/completions`, 'POST', { messages, ...extra }, headers),
    statelessStream: (text: string, extra: object = {}) =>
      openSse(`${app.url}${agent}/deploy/chat/completions`, { ...user(text), stream: true, ...extra }),
    /** The next provider call, left open for the test to play. */
    byHand(): Promise<UpstreamCall> {
      const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
      up.always(resolve)
      return promise
    },
    /** Every provider call from now on answers with these pieces. */
    says(pieces: string[], { reason = 'stop', usage }: { reason?: string; usage?: UpstreamUsage | null } = {}): void {
      up.always(async (one) => {
        for (const piece of pieces) await one.text(piece)
        await one.finish(reason, usage, usage !== undefined)
      })
    },
    close: async () => {
      if (!settings) await call(`${app.url}${agent}`, 'DELETE')
      await app[Symbol.asyncDispose]()
      await up.close()
    },
  }
}

/** How many messages are stored, of all sessions. */
export async function storedMessages(app: Pick<TestApp, 'sql'>): Promise<number> {
  const [row] = await app.sql<{ n: number }[]>`select count(*)::integer as n from messages`
  return row?.n ?? 0
}

export type { SseStream, Upstream, UpstreamCall }
