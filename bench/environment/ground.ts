/** The parts that the bench itself runs: the model, the load client, and a PostgreSQL for contenders that need one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '../../src/persistence/postgres/database.ts'
import { type Embedded, startEmbedded } from '../../src/persistence/postgres/embedded/embedded.ts'
import { serverPid } from '../../test/support/programs/product.ts'
import { programFolder } from '../../test/support/programs/program.ts'
import { startRedis } from '../../test/support/programs/redis.ts'
import { type LoadClient, startLoadClient } from '../load/client.ts'
import type { Scene } from '../runner/contender.ts'

const silent = { debug() {}, info() {}, warn: console.warn, error: console.error }

export type Ground = AsyncDisposable & {
  readonly upstreamUrl: string
  readonly load: LoadClient
  scene(): Promise<OwnScene>
}

/** A scene and the processes started for its contender. Disposing removes everything it provided. */
export type OwnScene = Scene & AsyncDisposable & { pids(): number[] }

/** Starts the model of every bench; see upstream.ts. */
async function startModel(): Promise<{ url: string } & Disposable> {
  const model = fork(new URL('upstream.ts', import.meta.url), { execArgv: [] })
  const [{ port }] = await once(model, 'message')
  return { url: `http://127.0.0.1:${port}/v1`, [Symbol.dispose]: () => void model.kill() }
}

export async function openGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack()
  const { url: upstreamUrl } = stack.use(await startModel())
  const load = stack.use(startLoadClient())
  let postgres: Promise<Postgres> | undefined
  stack.defer(async () => await (await postgres)?.[Symbol.asyncDispose]())
  const kept = stack.move()
  return {
    upstreamUrl,
    load,
    scene: () =>
      openScene(upstreamUrl, () => {
        postgres ??= startPostgres()
        return postgres
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openScene(upstreamUrl: string, postgres: () => Promise<Postgres>): Promise<OwnScene> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await programFolder('bench'))
  const folder = join(path, 'own')
  await mkdir(folder, { mode: 0o755 })
  const pids: number[] = []
  const kept = stack.move()
  return {
    upstreamUrl,
    folder,
    pids: () => pids,
    async database() {
      const server = await postgres()
      pids.push(server.pid)
      const { url, drop } = await server.database()
      kept.defer(drop)
      return url
    },
    async redis() {
      const redis = kept.use(await startRedis())
      pids.push(Number(/process_id:(\d+)/.exec(String(await redis.command('INFO', 'server')))?.[1]))
      return redis.url
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export type Postgres = AsyncDisposable & {
  readonly pid: number
  /** URL of the maintenance database. */
  readonly url: string
  database(): Promise<{ name: string; url: string; drop(): Promise<void> }>
}

/** Starts PostgreSQL with durability on: one server for the whole run, one database for each contender. */
async function startPostgres(): Promise<Postgres> {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(await programFolder('bench-postgres'))
  const first = await startEmbedded({ dataDir, log: silent })
  await run(first, 'alter system set max_connections = 400')
  await first.stop()
  const server = await startEmbedded({ dataDir, log: silent })
  stack.defer(() => server.stop())
  let made = 0
  const kept = stack.move()
  return {
    pid: (await serverPid(dataDir)) ?? 0,
    url: server.url,
    async database() {
      const name = `bench_${++made}`
      await run(server, `create database ${name}`)
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return { name, url: url.href, drop: () => run(server, `drop database ${name} with (force)`) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function run({ url }: Embedded, statement: string): Promise<void> {
  const sql = connect(url, { name: 'bench', max: 1, timeoutMs: 0 })
  await sql.unsafe(statement).finally(() => sql.end())
}
