/** Every limit of the contract that requests which come together can press, and what becomes of them. */
import { randomUUID } from 'node:crypto'
import { codeOf } from '../../../src/persistence/postgres/database.ts'
import type { openSignIn } from '../../features/oidc/scene.ts'
import { DEPLOY_KEY, say } from '../../features/users/access/front-door-scene.ts'
import type { TestApp } from '../../support/app.ts'

export type Scene = Awaited<ReturnType<typeof openSignIn>>

/** The settings that the table is about. */
export const limitSettings = {
  MAX_USER_SESSIONS: '40',
  MAX_USER_BYTES: '5000000',
  MAX_SESSION_BYTES: '2000000',
  MAX_USER_FILE_BYTES: '2000000',
}

export interface Tools {
  scene: Scene
  /** A key with these limits. */
  newKey(limits: object): Promise<string>
  /** The status of an answer whose body stays open until the row is over. */
  opened(app: TestApp, token: string, path: string, body?: object): Promise<number>
}

export interface Pressed {
  count: number
  /** Sends a request to the instance and returns its status. */
  send(app: TestApp, n: number): Promise<number>
  /** The number of answers of each status. */
  statuses: Record<number, number>
}

export type Row = (tools: Tools) => Promise<Pressed>

/** The ways to begin a reply whose answer is a stream; `n` distinguishes sessions. */
const streams = (deploy: string, sessions: readonly string[]) => [
  (n: number) => [`${deploy}/sessions/${sessions[n]}/chat/completions`, say('Hi', { stream: true })] as const,
  () => [`${deploy}/responses`, { input: 'Hi', stream: true }] as const,
  () => {
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
    return [`${deploy}/ai-sdk`, { id: randomUUID(), messages }] as const
  },
  () => {
    const messages = [{ id: 'm', role: 'user', content: 'Hi' }]
    const run = { threadId: randomUUID(), runId: randomUUID(), tools: [], context: [], state: {}, forwardedProps: {} }
    return [`${deploy}/ag-ui`, { ...run, messages }] as const
  },
  () => [`${deploy}/chat/completions`, say('Hi', { stream: true })] as const,
  () => [`${deploy}/responses`, { input: 'Hi', stream: true, store: false }] as const,
]

/** The number of those that client secrets may use. */
const OF_SECRETS = 4

/** Replies of a caller, begun on every surface in turn: a key's, or those of a user's secret. */
async function replies(tools: Tools, token: string, user: string | null, count: number): Promise<Pressed['send']> {
  const { scene, opened } = tools
  const sessions = await Promise.all(Array.from({ length: count }, () => scene.session(user)))
  const ways = streams(scene.deploy(), sessions).slice(0, user === null ? undefined : OF_SECRETS)
  return async (app, n) => {
    const way = ways[Math.floor(n / 2) % ways.length]
    if (way === undefined) return 0
    const [path, body] = way(n)
    return await opened(app, token, path, body)
  }
}

const answered = (scene: Scene) => scene.says('Fine.')
const held = (scene: Scene) => void scene.byHand()
const sized = (bytes: number): string => 'x'.repeat(bytes)

/** Sessions in which something was said. */
async function talked(scene: Scene, user: string, count: number): Promise<string[]> {
  answered(scene)
  const ids = await Promise.all(Array.from({ length: count }, () => scene.session(user)))
  for (const id of ids) await scene.asKey('POST', `${scene.deploy()}/sessions/${id}/chat/completions`, say('Hi'))
  return ids
}

const limitUsers = async ({ sql }: Scene, limits: object | null) => {
  await sql`update agents set user_limits = ${limits === null ? null : JSON.stringify(limits)}::text::jsonb`
}

/** Requests a minute of a user whose client secret does this. */
const aMinute =
  (send: (tools: Tools, secret: string, user: string) => Promise<Pressed['send']>): Row =>
  async (tools) => {
    const user = randomUUID()
    const sending = await send(tools, await tools.scene.secret(user), user)
    await limitUsers(tools.scene, { requestsPerMinute: 7 })
    return { count: 30, send: sending, statuses: { 200: 7, 429: 23 } }
  }

async function upload(app: TestApp, path: string, { user, bytes }: { user: string; bytes: number }): Promise<number> {
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('user', user)
  form.set('file', new Blob([`${randomUUID()}${sized(bytes - 36)}`], { type: 'text/plain' }), 'a.txt')
  const headers = { authorization: `Bearer ${DEPLOY_KEY}` }
  return (await fetch(`${app.url}${path}`, { method: 'POST', headers, body: form })).status
}

const ofSessions: Record<string, Row> = {
  'fifty shares of a session': async ({ scene }) => {
    const path = `${scene.deploy()}/sessions/${await scene.session('ann')}/shares`
    const send = async (app: TestApp) => (await scene.asKey('POST', path, {}, app)).status
    return { count: 70, send, statuses: { 201: 50, 409: 20 } }
  },
  'a hundred streams of a share on an instance': async ({ scene, opened }) => {
    const session = `${scene.deploy()}/sessions/${await scene.session('ann')}`
    const { token } = (await scene.asKey('POST', `${session}/shares`, { live: true })).json
    held(scene)
    await opened(scene.here, DEPLOY_KEY, `${session}/chat/completions`, say('Hi', { stream: true }))
    const send = (app: TestApp) => opened(app, token, `${session}/chat/completions/stream`)
    return { count: 240, send, statuses: { 200: 200, 429: 40 } }
  },
  'twenty messages in a queue': async ({ scene, opened }) => {
    const path = `${scene.deploy()}/sessions/${await scene.session('ann')}/chat/completions`
    held(scene)
    await opened(scene.here, DEPLOY_KEY, path, say('Hi', { stream: true }))
    const send = (app: TestApp, n: number) =>
      opened(app, DEPLOY_KEY, path, say(`${n}`, { stream: true, on_busy: 'enqueue' }))
    return { count: 40, send, statuses: { 200: 20, 409: 20 } }
  },
  MAX_USER_SESSIONS: async ({ scene }) => {
    const send = async (app: TestApp) => {
      const made = await scene.asKey('POST', `${scene.deploy()}/sessions`, { user: 'sue' }, app)
      return made.json.error?.code === 'too_many_sessions' || made.status < 400 ? made.status : 0
    }
    return { count: 60, send, statuses: { 201: 40, 429: 20 } }
  },
  'MAX_USER_SESSIONS, conversations of no agent': async ({ scene }) => {
    await scene.newAgent()
    const send = async (app: TestApp) => (await scene.asKey('POST', '/api/v1/openai/conversations', {}, app)).status
    return { count: 60, send, statuses: { 200: 40, 429: 20 } }
  },
  MAX_SESSION_BYTES: async ({ scene }) => {
    const [id = ''] = await talked(scene, 'tom', 1)
    const session = `${scene.deploy()}/sessions/${id}`
    for (let n = 1; n < 12; n++) await scene.asKey('POST', `${session}/chat/completions`, say('Hi'))
    const { messages } = (await scene.asKey('GET', `${session}/messages`)).json
    const ids = messages.flatMap((one: { id: string; role: string }) => (one.role === 'assistant' ? [one.id] : []))
    await scene.sql`update sessions set bytes = 2000000 - 6500 where id = ${id}`
    const comment = { score: 1, comment: sized(2000) }
    const send = async (app: TestApp, n: number) =>
      (await scene.asKey('PUT', `${session}/messages/${ids[n]}/feedback`, comment, app)).status
    return { count: 12, send, statuses: { 200: 3, 413: 9 } }
  },
  MAX_USER_BYTES: async ({ scene }) => {
    const messages = [{ role: 'user', content: sized(500_000) }]
    const send = async (app: TestApp) =>
      (await scene.asKey('POST', `${scene.deploy()}/sessions`, { user: 'una', messages }, app)).status
    return { count: 20, send, statuses: { 201: 10, 413: 10 } }
  },
  MAX_USER_FILE_BYTES: async ({ scene }) => ({
    count: 30,
    send: (app) => upload(app, `${scene.deploy()}/files`, { user: 'vic', bytes: 100_000 }),
    statuses: { 200: 20, 413: 10 },
  }),
  'a thousand files of a user': async ({ scene }) => {
    const files = { path: `${scene.deploy()}/files`, user: 'wim' }
    await upload(scene.here, files.path, { user: files.user, bytes: 100 })
    await scene.sql`
      insert into files (id, agent_id, end_user, filename, purpose, media_type, size, sha256, stored_as)
      select gen_random_uuid(), agent_id, end_user, filename, purpose, media_type, 0, sha256, stored_as
        from files cross join generate_series(1, 990) where end_user = ${files.user}`
    return {
      count: 30,
      send: (app) => upload(app, files.path, { user: files.user, bytes: 100 }),
      statuses: { 200: 9, 413: 21 },
    }
  },
}

const ofCallers: Record<string, Row> = {
  'requests a minute of a key, on every surface': async (tools) => {
    answered(tools.scene)
    const key = await tools.newKey({ requestsPerMinute: 7 })
    return { count: 36, send: await replies(tools, key, null, 36), statuses: { 200: 7, 429: 29 } }
  },
  'concurrent replies of a key, on every surface': async (tools) => {
    held(tools.scene)
    const key = await tools.newKey({ concurrentReplies: 5 })
    return { count: 36, send: await replies(tools, key, null, 36), statuses: { 200: 5, 429: 31 } }
  },
  'concurrent replies of a user, on every surface': async (tools) => {
    held(tools.scene)
    await limitUsers(tools.scene, { concurrentReplies: 5 })
    const secret = await tools.scene.secret('xan')
    return { count: 36, send: await replies(tools, secret, 'xan', 36), statuses: { 200: 5, 429: 31 } }
  },
  'summaries among the concurrent replies of a key': async (tools) => {
    const { scene } = tools
    const ids = await talked(scene, 'yan', 12)
    const key = await tools.newKey({ concurrentReplies: 3 })
    // The model answers once every request has come to it, or was refused.
    const { promise, resolve } = Promise.withResolvers<void>()
    let come = 0
    const count = () => {
      come += 1
      if (come === ids.length) resolve()
    }
    scene.up.always(async (one) => {
      count()
      await promise
      await one.text('Fine.')
      await one.finish()
    })
    const send = async (app: TestApp, n: number) => {
      const path = `${scene.deploy()}/sessions/${ids[n]}/compact`
      const { status } = await scene.as(key, 'POST', path, undefined, app)
      if (status !== 200) count()
      return status
    }
    return { count: 12, send, statuses: { 200: 3, 429: 9 } }
  },
  'tokens a day of a key that has used them': async (tools) => await spent(tools, { tokensPerDay: 1 }),
  'cost a month of a key that has used it': async (tools) => await spent(tools, { costPerMonth: 0.000001 }),
  'requests a minute of a user: sessions': aMinute(async ({ scene }, secret) => async (app) => {
    const { status } = await scene.as(secret, 'POST', `${scene.deploy()}/sessions`, {}, app)
    return status === 201 ? 200 : status
  }),
  'requests a minute of a user: forks': aMinute(async ({ scene }, secret, user) => {
    const [id] = await talked(scene, user, 1)
    return async (app) => {
      const fork = { fork_of: { session_id: id } }
      const { status } = await scene.as(secret, 'POST', `${scene.deploy()}/sessions`, fork, app)
      return status === 201 ? 200 : status
    }
  }),
  'requests a minute of a user: feedback': aMinute(async ({ scene }, secret, user) => {
    const [id] = await talked(scene, user, 1)
    const session = `${scene.deploy()}/sessions/${id}`
    const reply = (await scene.asKey('GET', `${session}/messages`)).json.messages.at(-1).id
    return async (app, n) =>
      (await scene.as(secret, 'PUT', `${session}/messages/${reply}/feedback`, { score: 1, comment: `${n}` }, app))
        .status
  }),
  'requests a minute of a user: summaries': aMinute(async ({ scene }, secret, user) => {
    const ids = await talked(scene, user, 30)
    return async (app, n) =>
      (await scene.as(secret, 'POST', `${scene.deploy()}/sessions/${ids[n]}/compact`, undefined, app)).status
  }),
  'eight live lists of a user': async ({ scene, opened }) => {
    const secret = await scene.secret('lea')
    const send = (app: TestApp) => opened(app, secret, `${scene.deploy()}/sessions/stream`)
    return { count: 24, send, statuses: { 200: 8, 429: 16 } }
  },
  'sixty-four live lists of a key': async ({ scene, opened, newKey }) => {
    const key = await newKey({})
    const send = (app: TestApp) => opened(app, key, `${scene.deploy()}/sessions/stream`)
    return { count: 90, send, statuses: { 200: 64, 429: 26 } }
  },
  'two hundred remembered decisions of a user, in several sessions': async ({ scene }) => {
    await scene.sql`
      insert into remembered_decisions (id, agent_id, end_user, tool, name, decision, reach, by_secret)
      select gen_random_uuid(), ${scene.agentId}, 'zoe', 'built-in:x', 'x', 'approve', sha256(n::text::bytea), false
        from generate_series(1, 195) n`
    const sessions = await Promise.all(Array.from({ length: 12 }, () => scene.session('zoe')))
    const send = async (app: TestApp, n: number) => {
      const reach = `${n}`.padStart(64, 'a')
      const remember = { id: randomUUID(), scope: 'user', tool: 'built-in:x', name: 'x', reach, by_secret: false }
      const decisions = JSON.stringify([{ decision: 'approve', remember }])
      const remembering = app.sql`select remember_decisions(${sessions[n] ?? ''}, ${decisions}::text::jsonb, null)`
      return await remembering.then(() => 200).catch((error: unknown) => (codeOf(error) === 'GR422' ? 400 : 0))
    }
    return { count: 12, send, statuses: { 200: 5, 400: 7 } }
  },
}

/** Messages under a key that has used all that it may. */
async function spent(tools: Tools, limits: object): Promise<Pressed> {
  const { scene } = tools
  const key = await tools.newKey(limits)
  answered(scene)
  const stateless = `${scene.deploy()}/chat/completions`
  const first = await scene.as(key, 'POST', stateless, say('Hi'))
  if (first.status !== 200) throw new Error(first.text)
  return { count: 24, send: await replies(tools, key, null, 24), statuses: { 429: 24 } }
}

export const rows: Record<string, Row> = { ...ofSessions, ...ofCallers }
