/** Three instances on one PostgreSQL and the bench's model, with or without Redis, all on loopback. */

import { npmStart } from '../../test/support/programs/npm-start.ts'
import { addAgent, newSession, type Product, startProduct } from '../../test/support/programs/product.ts'
import { programFolder } from '../../test/support/programs/program.ts'
import { type RedisServer, startRedis } from '../../test/support/programs/redis.ts'
import { chatBody } from '../contenders/chat-completions.ts'
import { ownCheckout } from '../environment/checkout.ts'
import { type Postgres, startModel, startPostgres } from '../environment/ground.ts'
import { type Observed, type OnId, observe } from '../load/observed.ts'

export interface Ground extends AsyncDisposable {
  postgres: Postgres
  modelUrl: string
}

export async function openGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres())
  const { url: modelUrl } = stack.use(await startModel())
  const kept = stack.move()
  return { postgres, modelUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

export interface Scene extends AsyncDisposable {
  /** `with Redis` or `PostgreSQL alone`. */
  name: string
  agentId: string
  /** Name of its database. */
  database: string
  products: Product[]
  redis: RedisServer | null
  /** Restarts a killed instance on its port. */
  restart(instance: number): Promise<void>
}

export interface SceneOptions {
  redis: boolean
  /** The product's default, 6000, when absent. */
  leaseMs?: number
}

export async function openScene(ground: Ground, { redis: wanted, leaseMs }: SceneOptions): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const redis = wanted ? stack.use(await startRedis()) : null
  const { name: database, url } = await ground.postgres.database()
  const { path: dataDir } = stack.use(await programFolder('bench'))
  const start = npmStart(ownCheckout.path)
  const nodeArgs = [...start.args]
  const env = {
    ...start.env,
    NODE_ENV: 'production',
    DATABASE_URL: url,
    SECRET_KEY: 'the-same-for-all',
    LOG_LEVEL: 'error',
    ...(leaseMs === undefined ? {} : { OWNER_LEASE_MS: `${leaseMs}` }),
    ...(redis ? { CACHE_PROVIDER: 'redis', CACHE_URL: redis.url } : {}),
  }
  const products: Product[] = []
  stack.defer(async () => {
    for (const product of products) await product[Symbol.asyncDispose]()
  })
  for (let n = 0; n < 3; n++) products.push(await startProduct({ direct: true, nodeArgs, dataDir, env }))
  const agentId = await addAgent(instance(products, 0), ground.modelUrl)
  const kept = stack.move()
  return {
    name: redis ? 'with Redis' : 'PostgreSQL alone',
    agentId,
    database,
    products,
    redis,
    async restart(n) {
      const { port } = new URL(instance(products, n).url)
      products[n] = await startProduct({ direct: true, nodeArgs, dataDir, env: { ...env, PORT: port } })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function instance(products: readonly Product[], n: number): Product {
  const product = products[n]
  if (!product) throw new Error(`There is no instance ${n}.`)
  return product
}

export const urlOf = ({ products }: Scene, n: number): string => instance(products, n).url

/** Tokens at 20 a second, about reading speed; `silentModel` responds but sends no token. */
export const paced = (tokens: number): string => `tokens=${tokens} rate=20`
export const silentModel = 'tokens=0 rate=0 hold=600'

export interface Running {
  session: string
  /** The stream of the original request, on the owner. */
  own: Observed
}

/** Starts a reply in a new session. Resolves when it is accepted. */
export async function startReply(scene: Scene, owner: number, prompt: string, onId?: OnId): Promise<Running> {
  const session = await newSession(urlOf(scene, owner), scene.agentId)
  return { session, own: accepted(await sendMessage(scene, owner, session, prompt, onId)) }
}

/** Resolves with its response. */
export const sendMessage = (scene: Scene, to: number, session: string, prompt: string, onId?: OnId) =>
  observe({ url: completions(scene, to, session), body: chatBody(prompt, true) }, onId)

/** `after`: the last id seen. Resolves when it is accepted. */
export async function resume(
  scene: Scene,
  at: number,
  session: string,
  { after, onId }: { after?: number; onId?: OnId } = {},
): Promise<Observed> {
  const headers = after === undefined ? {} : { 'last-event-id': `${after}` }
  return accepted(await observe({ url: `${completions(scene, at, session)}/stream`, headers }, onId))
}

/** Resolves with its response. */
export const cancel = (scene: Scene, at: number, session: string): Promise<Observed> =>
  observe({ url: `${completions(scene, at, session)}/cancel`, body: '{}' })

const completions = (scene: Scene, at: number, session: string): string =>
  `${urlOf(scene, at)}${session}/chat/completions`

function accepted(stream: Observed): Observed {
  if (stream.status !== 200) throw new Error(`A stream was answered with ${stream.status}.`)
  return stream
}
