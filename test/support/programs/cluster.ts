/**
 * Several instances on one PostgreSQL behind nginx, optionally with Redis or PgBouncer.
 *
 *     await using cluster = await startCluster({ redis: true })
 *     await cluster.kill9(0)
 *     await cluster.restart(0)                     // on the same port
 */
import { type FreshDatabase, freshDatabase, type ServerVersion } from '../database.ts'
import { openWire, type Wire } from '../network/wire.ts'
import { freePort } from './free-port.ts'
import { startNginx } from './nginx.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { type Exit, type Product, startProduct } from './product.ts'
import { programFolder } from './program.ts'
import { type RedisServer, startRedis } from './redis.ts'

/** A third of the default or less, so that tests that wait for a loss are quick. */
export const LEASE_MS = 1500

export interface ClusterOptions {
  /** 3 by default. */
  instances?: number
  redis?: boolean
  pgbouncer?: boolean
  /** Each instance reaches PostgreSQL and Redis through its own proxies. */
  wires?: boolean
  version?: ServerVersion
  /** Used instead of a fresh one; not dropped at the end. */
  database?: FreshDatabase
  /** The time for which nginx retries on another instance (milliseconds; 5 s in deploy/nginx.conf). */
  nginxRetryMs?: number
  env?: Record<string, string>
  /** Checkout of an older version, which runs until an instance is restarted. */
  before?: string
  /** See `ProductOptions`: of instances that are restarted. */
  startsAside?: boolean
}

export interface InstanceWires {
  database: Wire
  redis: Wire | null
}

export interface Cluster extends AsyncDisposable {
  /** URLs of the instances, unchanged by restarts. */
  urls: readonly string[]
  /** URL of nginx. */
  balancer: string
  /** The current processes. */
  products: readonly Product[]
  database: FreshDatabase
  redis: RedisServer | null
  /** The proxies by instance; none unless requested. */
  wires: readonly InstanceWires[]
  /** Kills an instance, like a crash; resolves when it is gone. */
  kill9(instance: number): Promise<void>
  /** Stops an instance with SIGSTOP until SIGCONT. */
  pause(instance: number): void
  resume(instance: number): void
  /** Stops it with SIGTERM if it runs, waits for its drain, and restarts it on its port. Null when it did not run. */
  restart(instance: number): Promise<Exit | null>
}

/** Resolves when all instances are ready and nginx reaches them. By default on PostgreSQL 15, the oldest supported. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { instances = 3, version = 15 } = options
  await using stack = new AsyncDisposableStack()
  const database = options.database ?? (await freshDatabase({ version }))
  if (!options.database) stack.defer(() => database.drop())
  const folder = stack.use(await programFolder('cluster'))
  const redis = options.redis ? stack.use(await startRedis()) : null
  const pooler = options.pgbouncer ? stack.use(await startPgBouncer(database.url)) : null
  const wires: InstanceWires[] = []
  for (let n = 0; options.wires && n < instances; n++) {
    const toRedis = redis ? stack.use(await openWire({ host: '127.0.0.1', port: redis.port })) : null
    wires.push({ database: stack.use(await openWire(socketOf(database.url))), redis: toRedis })
  }
  const env = {
    DATABASE_URL: pooler?.url ?? database.url,
    SECRET_KEY: 'the-same-for-all',
    OWNER_LEASE_MS: `${LEASE_MS}`,
    DRAIN_TIMEOUT_S: '10',
    TRUST_PROXY: '127.0.0.1',
    ...(redis ? { CACHE_PROVIDER: 'redis', CACHE_URL: redis.url } : {}),
    ...options.env,
  }
  const envOf = (instance: number, port: number | string) => ({
    ...env,
    ...throughWires(wires[instance], database.url),
    PORT: `${port}`,
  })
  const products: Product[] = []
  stack.defer(async () => {
    for (const product of products) await product[Symbol.asyncDispose]()
  })
  const starts = await Promise.allSettled(
    Array.from({ length: instances }, async (_, instance) =>
      startProduct({
        direct: true,
        dataDir: folder.path,
        env: envOf(instance, await freePort()),
        ...(options.before !== undefined && { checkout: options.before }),
      }),
    ),
  )
  for (const start of starts) if (start.status === 'fulfilled') products.push(start.value)
  for (const start of starts) if (start.status === 'rejected') throw start.reason
  const urls = products.map(({ url }) => url)
  const { url: balancer } = stack.use(await startNginx(urls, options.nginxRetryMs))
  const at = (instance: number): Product => {
    const product = products[instance]
    if (!product) throw new Error(`There is no instance ${instance}.`)
    return product
  }
  const kept = stack.move()
  return {
    urls,
    balancer,
    products,
    database,
    redis,
    wires,
    kill9: (instance) => at(instance).kill9(),
    pause: (instance) => void process.kill(at(instance).pid, 'SIGSTOP'),
    resume: (instance) => void process.kill(at(instance).pid, 'SIGCONT'),
    async restart(instance) {
      const old = at(instance)
      const { exitCode, signalCode } = old.child
      const exit = exitCode === null && signalCode === null ? await old.stop('SIGTERM') : null
      await old[Symbol.asyncDispose]()
      const port = new URL(old.url).port
      products[instance] = await startProduct({
        direct: true,
        dataDir: folder.path,
        env: envOf(instance, port),
        startsAside: options.startsAside ?? false,
      })
      return exit
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Returns the server's socket: the test servers listen on no port. */
export function socketOf(databaseUrl: string): { path: string } {
  const { hostname, port } = new URL(databaseUrl)
  return { path: `${decodeURIComponent(hostname)}/.s.PGSQL.${port || '5432'}` }
}

function throughWires(wires: InstanceWires | undefined, databaseUrl: string): Record<string, string> {
  if (wires === undefined) return {}
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = `${wires.database.port}`
  return { DATABASE_URL: url.href, ...(wires.redis && { CACHE_URL: `redis://127.0.0.1:${wires.redis.port}` }) }
}
