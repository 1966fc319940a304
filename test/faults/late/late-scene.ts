/** A store behind a proxy that delivers the first try of a statement late (contract section 35). */
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { openScene, type Scene } from '../../persistence/scene.ts'
import { type DatabaseProxy, openProxy } from '../database/database-proxy.ts'
import { createStatementReader } from './statements-sent.ts'

export interface LateSql extends AsyncDisposable {
  /** A pool behind the proxy. */
  lateSql: Sql
  proxy: DatabaseProxy
  /** Holds the next statement with this text, and cuts its connection. Resolves when it is held. */
  hold(statement: string): Promise<void>
  /** Lets the server carry out what was held. */
  deliver(): Promise<void>
}

export interface LateScene extends LateSql {
  scene: Scene
}

export async function openLateScene(): Promise<LateScene> {
  const scene = await openScene()
  const late = await openLateSql(scene.database.url)
  return {
    ...late,
    scene,
    async [Symbol.asyncDispose]() {
      await late[Symbol.asyncDispose]()
      await scene[Symbol.asyncDispose]()
    },
  }
}

export async function openLateSql(url: string): Promise<LateSql> {
  const proxy = await openProxy(url)
  const read = createStatementReader()
  let held: { statement: string; resolve(): void } | null = null
  proxy.judge((bytes, connection) => {
    const executed = read(bytes, connection)
    if (held === null || !executed.some((text) => text.includes(held?.statement ?? ''))) return 'pass'
    held.resolve()
    held = null
    return 'hold'
  })
  const lateSql = connect(proxy.url, { max: 4, name: 'late', timeoutMs: 0 })
  return {
    lateSql,
    proxy,
    hold: (statement) =>
      new Promise((resolve) => {
        held = { statement, resolve }
      }),
    deliver: () => proxy.deliver(),
    async [Symbol.asyncDispose]() {
      await lateSql.end({ timeout: 1 })
      await proxy[Symbol.asyncDispose]()
    },
  }
}
