/** Three instances on one PostgreSQL and one paced model, with Redis and without, all on loopback. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from '../../src/persistence/postgres/database.ts'
import { startEmbedded } from '../../src/persistence/postgres/embedded.ts'
import { addAgent, newSession, type Product, serverPid, startProduct } from '../../test/support/product.ts'
import { programFolder } from '../../test/support/program.ts'
import { type RedisServer, startRedis } from '../../test/support/redis.ts'
import { type Call, call, type Stream } from './client.ts'

const silent = { debug() {}, info() {}, warn: console.warn, error: console.error }

export interface Ground extends AsyncDisposable {
  /** Of an existing database, not one of the scenes'. */
  databaseUrl: string
  serverPid: number
  modelUrl: string
}

/** PostgreSQL with its durability settings on, and the model. */
export async function openGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(await programFolder('bench'))
  const first = await startEmbedded({ dataDir, log: silent })
  await run(first.url, 'alter system set max_connections = 400')
  await first.stop()
  const database = await startEmbedded({ dataDir, log: silent })
  stack.defer(() => database.stop())
  const model = fork(new URL('paced-model.ts', import.meta.url), { execArgv: [] })
  stack.defer(() => void model.kill())
  const [{ port }] = await once(model, 'message')
  const kept = stack.move()
  return {
    databaseUrl: database.url,
    serverPid: (await serverPid(dataDir)) ?? 0,
    modelUrl: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function run(url: string, statement: string): Promise<void> {
  const sql = connect(url, { name: 'bench', max: 1, timeoutMs: 0 })
  await sql.unsafe(statement).finally(() => sql.end())
}

export interface Scene extends AsyncDisposable {
  /** `with Redis` or `PostgreSQL alone`. */
  name: string
  agentId: string
  /** Name of its database. */
  database: string
  products: Product[]
  redis: RedisServer | null
  /** Starts an instance again that was killed, on its port. */
  restart(instance: number): Promise<void>
}

export interface SceneOptions {
  redis: boolean
  /** Absent: the product's default, 6000. */
  leaseMs?: number
}

export async function openScene(ground: Ground, { redis: wanted, leaseMs }: SceneOptions): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const redis = wanted ? stack.use(await startRedis()) : null
  const database = `bench_${wanted ? 'redis' : 'alone'}_${leaseMs ?? 'default'}`
  await run(ground.databaseUrl, `create database ${database}`)
  const url = new URL(ground.databaseUrl)
  url.pathname = `/${database}`
  const { path: dataDir } = stack.use(await programFolder('bench'))
  const env = {
    DATABASE_URL: url.href,
    SECRET_KEY: 'the-same-for-all',
    LOG_LEVEL: 'error',
    ...(leaseMs === undefined ? {} : { OWNER_LEASE_MS: `${leaseMs}` }),
    ...(redis ? { CACHE_PROVIDER: 'redis', CACHE_URL: redis.url } : {}),
  }
  const products: Product[] = []
  stack.defer(async () => {
    for (const product of products) await product[Symbol.asyncDispose]()
  })
  for (let n = 0; n < 3; n++) products.push(await startProduct({ direct: true, dataDir, env }))
  const agentId = await addAgent(instance(products, 0), ground.modelUrl)
  const kept = stack.move()
  return {
    ...{ name: redis ? 'with Redis' : 'PostgreSQL alone', agentId, database, products, redis },
    async restart(n) {
      const { port } = new URL(instance(products, n).url)
      products[n] = await startProduct({ direct: true, dataDir, env: { ...env, PORT: port } })
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

/** Tokens at 20 a second, about as fast as one reads; `silent` never says anything. */
export const paced = (tokens: number): string => `20 ${tokens}`
export const silentModel = '0 0'

export interface Running {
  session: string
  /** The stream of the message itself, on the owner. */
  own: Stream
}

/** A reply in a new session. Resolves when it was accepted. */
export async function startReply(scene: Scene, owner: number, text: string, onId?: Call['onId']): Promise<Running> {
  const session = await newSession(urlOf(scene, owner), scene.agentId)
  return { session, own: accepted(await sendMessage(scene, owner, session, text, onId)) }
}

/** Resolves with its answer. */
export async function sendMessage(scene: Scene, to: number, session: string, text: string, onId?: Call['onId']) {
  const body = { stream: true, messages: [{ role: 'user', content: text }] }
  return await call(completions(scene, to, session), { body, ...(onId ? { onId } : {}) })
}

/** Resolves when it was accepted. */
export const resume = async (scene: Scene, at: number, session: string, options: Call = {}): Promise<Stream> =>
  accepted(await call(`${completions(scene, at, session)}/stream`, options))

/** Resolves with its answer. */
export const cancel = (scene: Scene, at: number, session: string): Promise<Stream> =>
  call(`${completions(scene, at, session)}/cancel`, { body: {} })

const completions = (scene: Scene, at: number, session: string): string =>
  `${urlOf(scene, at)}${session}/chat/completions`

function accepted(stream: Stream): Stream {
  if (stream.status !== 200) throw new Error(`A stream was answered with ${stream.status}.`)
  return stream
}
