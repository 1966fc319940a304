/** Two instances on one database, with a deploy key, an agent whose provider is played, and secrets for its users. */
import { createHmac } from 'node:crypto'
import { type Answer, call } from '../../../http/scene.ts'
import { createAgent, sharedApp, startTestApp, type TestApp } from '../../../support/app.ts'
import { startUpstream, type UpstreamCall } from '../../../support/network/upstream.ts'
import { openSse, type SseStream } from '../../../support/streams/sse.ts'

export const DEPLOY_KEY = 'the-deploy-key'

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export type FrontDoor = Awaited<ReturnType<typeof openFrontDoor>>

export interface FrontDoorOptions {
  settings?: Record<string, string>
  /** Two by default. */
  instances?: number
}

/** Without `settings` they are those that all files of a process share. `PUBLIC_API_KEY: ''` leaves both open. */
export async function openFrontDoor({ settings, instances = 2 }: FrontDoorOptions = {}) {
  await using stack = new AsyncDisposableStack()
  const up = stack.use(await startUpstream())
  const own = { PUBLIC_API_KEY: DEPLOY_KEY, ...settings }
  const beside = (app: TestApp) => startTestApp({ database: app.database, settings: own })
  const here = stack.use(await (settings ? startTestApp({ settings: own }) : sharedApp(own)))
  const second = () => (settings ? beside(here) : sharedApp(own, here))
  const there = instances > 1 ? stack.use(await second()) : here
  const newAgent = async () => (await createAgent(here, { type: 'openai-compatible', baseUrl: up.url })).agentId
  const agentId = await newAgent()
  if (!settings) stack.defer(async () => void (await call(`${here.url}/api/v1/agents/${agentId}`, 'DELETE')))
  const deploy = (agent = agentId) => `/api/v1/agents/${agent}/deploy`
  const asKey = (method: string, path: string, body?: unknown, app: TestApp = here): Promise<Answer> =>
    call(`${app.url}${path}`, method, body, bearer(DEPLOY_KEY))
  const closing = stack.move()
  return {
    here,
    there,
    /** One more instance. */
    another: () => beside(here),
    sql: here.sql,
    up,
    agentId,
    newAgent,
    /** `/api/v1/agents/<id>/deploy` */
    deploy,
    asKey,
    async secret(user: string, more: object = {}, agent = agentId): Promise<string> {
      const made = await asKey('POST', `${deploy(agent)}/client_secrets`, { user, ...more })
      if (made.status !== 201) throw new Error(`no secret: ${made.status} ${made.text}`)
      return made.json.value
    },
    /** A session's id. Null for one without a user. */
    async session(user: string | null, agent = agentId): Promise<string> {
      const [row] = await here.sql<{ id: string }[]>`
        insert into sessions (agent_id, end_user) values (${agent}, ${user}) returning id`
      return row?.id ?? ''
    },
    as: (token: string, method: string, path: string, body?: unknown, app: TestApp = here): Promise<Answer> =>
      call(`${app.url}${path}`, method, body, bearer(token)),
    stream: (token: string, sessionId: string, app: TestApp = here): Promise<SseStream> =>
      openSse(
        `${app.url}${deploy()}/sessions/${sessionId}/chat/completions`,
        say('hi', { stream: true }),
        bearer(token),
      ),
    /** The next provider call, left open for the test to play. */
    byHand(): Promise<UpstreamCall> {
      const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
      up.always(resolve)
      return promise
    },
    says(...pieces: string[]): void {
      up.always(async (one) => {
        for (const piece of pieces) await one.text(piece)
        await one.finish()
      })
    },
    close: () => closing.disposeAsync(),
  }
}

export const say = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The three parts of a secret. */
export function partsOf(secret: string): { header: object; claims: Record<string, unknown>; signature: string } {
  const [header = '', claims = '', signature = ''] = secret.slice('ek_'.length).split('.')
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { header: decode(header), claims: decode(claims), signature }
}

/** A secret of anybody's making. */
export function forge(header: object, claims: object, key: string | null): string {
  const signed = `${encode(header)}.${encode(claims)}`
  const signature = key === null ? '' : createHmac('sha256', key).update(signed).digest('base64url')
  return `ek_${signed}.${signature}`
}
