/**
 * Real Redis servers on free ports, in memory only: alone, behind Sentinels, or three as a Cluster.
 *
 *     await using redis = await startRedis({ password: 'secret', tls: true })
 *     await redis.kill9(); await redis.restart()   // empty, on the same port
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis as Client } from 'ioredis'
import { WAIT_MS } from '../wait.ts'
import { certificate } from './certificate.ts'
import { freePort } from './free-port.ts'
import { type Program, programFolder, startProgram } from './program.ts'
import { systemPart } from './system-parts.ts'

export interface RedisOptions {
  password?: string
  /** TLS with a certificate of its own, in `caFile`; the URL is then `rediss:`. */
  tls?: boolean
  /** A free one by default. */
  port?: number
  /** Additional lines of its redis.conf. */
  lines?: string[]
  /** Starts a Sentinel instead. */
  sentinel?: boolean
}

export interface RedisServer extends AsyncDisposable {
  url: string
  port: number
  /** The CA for clients, as NODE_EXTRA_CA_CERTS or a TLS `ca`; null without TLS. */
  caFile: string | null
  /** Kills it, like a crash. Resolves when it is gone; clients are refused then. */
  kill9(): Promise<void>
  /** Restarts it on the same port, empty; kills it first if it runs. */
  restart(): Promise<void>
  /** Empties it, as FLUSHALL does. */
  flush(): Promise<void>
  /** Keeps connections open without answering, until `resume`. */
  pause(): void
  resume(): void
  /** Runs one command on a separate connection. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>
}

/** Resolves when it answers. Rejects with its output if it does not start. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { password, tls = false, lines = [], sentinel = false } = options
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await programFolder('redis'))
  const port = options.port ?? (await freePort())
  const caFile = tls ? certificate(folder.path) : null
  const url = `${tls ? 'rediss' : 'redis'}://${password ? `:${encodeURIComponent(password)}@` : ''}127.0.0.1:${port}`
  const command = (name: string, ...values: (string | number)[]) => ask(url, (client) => client.call(name, ...values))
  const file = join(folder.path, 'redis.conf')
  const conf = [
    ...(tls ? ['port 0', `tls-port ${port}`, ...tlsLines(folder.path)] : [`port ${port}`]),
    ...['bind 127.0.0.1', `dir ${folder.path}`, 'save ""', 'appendonly no'],
    ...(password ? [`requirepass "${password}"`, `masterauth "${password}"`] : []),
    ...lines,
  ]
  await writeFile(file, `${conf.join('\n')}\n`)
  const given = [file, ...(sentinel ? ['--sentinel'] : [])]
  const start = () =>
    startProgram(systemPart('redis-server'), given, {
      cwd: folder.path,
      ready: () =>
        command('PING').then(
          (answer) => answer === 'PONG',
          () => false,
        ),
    })
  let program: Program = await start()
  stack.defer(() => program.kill9())
  const kept = stack.move()
  return {
    url,
    port,
    caFile,
    command,
    kill9: () => program.kill9(),
    async restart() {
      await program.kill9()
      program = await start()
    },
    async flush() {
      await command('FLUSHALL')
    },
    pause: () => program.signal('SIGSTOP'),
    resume: () => program.signal('SIGCONT'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export interface RedisGroup extends AsyncDisposable {
  /** A CACHE_URL. */
  url: string
  /** The servers that hold data. */
  nodes: RedisServer[]
}

export interface SentinelGroup extends RedisGroup {
  /** Returns the port of the server that the Sentinels currently consider the master. */
  masterPort(): Promise<number>
}

/** Returns a master, a replica and three Sentinels, which need about 2 s to promote the replica of a dead master. */
export async function startSentinel({ password }: Pick<RedisOptions, 'password'> = {}): Promise<SentinelGroup> {
  await using stack = new AsyncDisposableStack()
  const secret = password === undefined ? {} : { password }
  const master = stack.use(await startRedis(secret))
  const lines = [`replicaof 127.0.0.1 ${master.port}`, 'repl-diskless-sync-delay 0']
  const replica = stack.use(await startRedis({ ...secret, lines }))
  const sentinels: number[] = []
  for (let n = 0; n < 3; n++) {
    const sentinel = stack.use(await startRedis({ sentinel: true, lines: watch(master.port, password) }))
    sentinels.push(sentinel.port)
  }
  const [first = 0] = sentinels
  const askFirst = (...words: string[]) =>
    ask(`redis://127.0.0.1:${first}`, (client) => client.call('SENTINEL', ...words))
  await until('the Sentinels know all', async () => {
    const told = String(await askFirst('MASTER', 'mymaster')).split(',')
    const of = (name: string) => told[told.indexOf(name) + 1]
    return of('num-slaves') === '1' && of('num-other-sentinels') === '2'
  })
  const kept = stack.move()
  const auth = password ? `:${encodeURIComponent(password)}@` : ''
  return {
    url: `redis+sentinel://${auth}${sentinels.map((port) => `127.0.0.1:${port}`).join(',')}/mymaster`,
    nodes: [master, replica],
    masterPort: async () => Number(String(await askFirst('GET-MASTER-ADDR-BY-NAME', 'mymaster')).split(',')[1]),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const watch = (port: number, password: string | undefined): string[] => [
  `sentinel monitor mymaster 127.0.0.1 ${port} 2`,
  'sentinel down-after-milliseconds mymaster 1000',
  'sentinel failover-timeout mymaster 5000',
  ...(password ? [`sentinel auth-pass mymaster "${password}"`] : []),
]

/** Starts three masters, each with a third of the slots. */
export async function startCluster({ password }: Pick<RedisOptions, 'password'> = {}): Promise<RedisGroup> {
  await using stack = new AsyncDisposableStack()
  const nodes: RedisServer[] = []
  const buses: number[] = []
  for (let n = 0; n < 3; n++) {
    const bus = await freePort() // the default, 10,000 above the port, may exceed 65,535
    const lines = ['cluster-enabled yes', `cluster-port ${bus}`, 'cluster-node-timeout 2000']
    nodes.push(stack.use(await startRedis({ ...(password === undefined ? {} : { password }), lines })))
    buses.push(bus)
  }
  const bounds = [0, 5461, 10_923, 16_384]
  for (const [n, node] of nodes.entries()) {
    await node.command('CLUSTER', 'SET-CONFIG-EPOCH', n + 1)
    await node.command('CLUSTER', 'ADDSLOTSRANGE', bounds[n] ?? 0, (bounds[n + 1] ?? 0) - 1)
    if (n > 0) await nodes[0]?.command('CLUSTER', 'MEET', '127.0.0.1', node.port, buses[n] ?? 0)
  }
  await until('the Cluster is whole', async () => {
    const infos = await Promise.all(nodes.map((node) => node.command('CLUSTER', 'INFO')))
    return infos.every((info) => /cluster_state:ok.*cluster_known_nodes:3/s.test(String(info)))
  })
  const kept = stack.move()
  const auth = password ? `:${encodeURIComponent(password)}@` : ''
  return {
    url: `redis+cluster://${auth}${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function ask<T>(url: string, question: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    ...(url.startsWith('rediss:') ? { tls: { rejectUnauthorized: false } } : {}),
  })
  client.on('error', () => {}) // the command reports it
  try {
    await client.connect()
    return await question(client)
  } finally {
    client.disconnect()
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; !(await isSo()); await pause(50)) {
    if (performance.now() > deadline) throw new Error(`Not within ${WAIT_MS} ms: ${what}.`)
  }
}

const tlsLines = (folder: string): string[] => [
  `tls-cert-file ${join(folder, 'cert.pem')}`,
  `tls-key-file ${join(folder, 'key.pem')}`,
  `tls-ca-cert-file ${join(folder, 'cert.pem')}`,
  'tls-auth-clients no',
]
