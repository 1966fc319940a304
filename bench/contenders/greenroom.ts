/**
 * Greenroom as its users start it: a process with an embedded PostgreSQL, durability on, MAX_* raised so that no case is
 * refused. Stateless, in sessions, in sessions with Redis, and followed from another instance.
 */

import { flagsOf, npmStart } from '../../test/support/programs/npm-start.ts'
import { addAgent, deployUrl, newSession, type Product, startProduct } from '../../test/support/programs/product.ts'
import type { Checkout } from '../environment/checkout.ts'
import { commitOf } from '../environment/commit.ts'
import type { Contender, Running, Scene } from '../runner/contender.ts'
import { chatBody } from './chat-completions.ts'

export type Started = AsyncDisposable & {
  readonly products: readonly [Product, ...Product[]]
  readonly agentId: string
}

const settings = {
  LOG_LEVEL: 'warn',
  MAX_RUNNING_REPLIES: '100000',
  MAX_BODY_BYTES: '67108864',
  NODE_ENV: 'production',
}

/** Starts one instance for each of `envs`, and an agent on the bench's model. */
export async function startGreenroom(
  checkout: Checkout,
  scene: Scene,
  envs: Record<string, string>[] = [{}],
  nodeArgs: string[] = [],
): Promise<Started> {
  await using stack = new AsyncDisposableStack()
  const products: Product[] = []
  const start = npmStart(checkout.path)
  for (const env of envs) {
    const args = [...start.args, ...nodeArgs]
    const where = { direct: true, nodeArgs: args, checkout: checkout.path, dataDir: scene.folder }
    products.push(stack.use(await startProduct({ ...where, env: { ...start.env, ...settings, ...env } })))
  }
  const [first, ...others] = products
  if (!first) throw new Error('No instance was requested.')
  const agentId = await addAgent(first, scene.upstreamUrl)
  const kept = stack.move()
  return {
    products: [first, ...others],
    agentId,
    async [Symbol.asyncDispose]() {
      // A clean stop, so that PostgreSQL ends at once instead of after a recovery.
      for (const product of products) await product.stop().catch(() => {})
      await kept.disposeAsync()
    },
  }
}

const streamOf = (url: string, session: string) => `${url}${session}/chat/completions/stream`

function inSessions(started: Started): Running {
  const { products, agentId } = started
  const [owner, other] = products
  return {
    open: () => newSession(owner.url, agentId),
    ask: (session, prompt, stream) => ({
      url: `${owner.url}${session}/chat/completions`,
      body: chatBody(prompt, stream),
      ...(other && stream ? { follow: { url: streamOf(other.url, session) } } : {}),
    }),
    pids: () => products.map(({ pid }) => pid),
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

/** Returns the requests of `useChat`: a session is made by its first message. There is no answer without streaming. */
function uiStreams(started: Started): Running {
  const [{ url, pid }] = started.products
  return {
    open: async () => crypto.randomUUID(),
    ask: (id, prompt) => ({
      url: `${deployUrl(url, started.agentId)}/ai-sdk`,
      body: JSON.stringify({
        id,
        messages: [{ id: 'message', role: 'user', parts: [{ type: 'text', text: prompt }] }],
        trigger: 'submit-message',
      }),
    }),
    pids: () => [pid],
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

function stateless(started: Started): Running {
  const [{ url, pid }] = started.products
  return {
    open: async () => '',
    ask: (_, prompt, stream) => ({
      url: `${deployUrl(url, started.agentId)}/chat/completions`,
      body: chatBody(prompt, stream),
    }),
    pids: () => [pid],
    [Symbol.asyncDispose]: () => started[Symbol.asyncDispose](),
  }
}

const withRedis = async (scene: Scene) => ({
  CACHE_PROVIDER: 'redis',
  CACHE_URL: await scene.redis(),
  SECRET_KEY: 'the-same-for-all',
})

async function startFollowed(checkout: Checkout, scene: Scene): Promise<Running> {
  const env = { ...(await withRedis(scene)), DATABASE_URL: await scene.database() }
  return inSessions(await startGreenroom(checkout, scene, [env, env]))
}

export function greenroomContenders(checkout: Checkout): Contender[] {
  const suffix = checkout.name === null ? '' : `@${checkout.name}`
  const make = (name: string, title: string, start: (scene: Scene) => Promise<Running>): Contender => ({
    name: `greenroom-${name}${suffix}`,
    title: `Greenroom, ${title}${suffix}`,
    start,
    keeps: name === 'stateless' ? 'nothing' : 'thread',
    versions: { greenroom: commitOf(checkout.path) },
    flags: flagsOf(npmStart(checkout.path)),
  })
  return [
    make('stateless', 'stateless', async (scene) => stateless(await startGreenroom(checkout, scene))),
    make('session', 'session', async (scene) => inSessions(await startGreenroom(checkout, scene))),
    make('ai-sdk', 'session, AI SDK stream', async (scene) => uiStreams(await startGreenroom(checkout, scene))),
    make('session-redis', 'session, Redis', async (scene) =>
      inSessions(await startGreenroom(checkout, scene, [await withRedis(scene)])),
    ),
    make('followed', 'followed elsewhere', (scene) => startFollowed(checkout, scene)),
  ]
}
