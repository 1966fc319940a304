/** Writes whose connection was cut before they reached the server (contract section 35, databases). */
import { expect } from 'vitest'
import { changedNothing, connect, isUnavailable, type Sql } from '../../../src/persistence/postgres/database.ts'
import { type Fate, openProxy } from '../../faults/database/database-proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

/** A pool behind a proxy. `cuts`: how many of the next requests find their connection cut. */
async function openScene() {
  const database = await freshDatabase({ empty: true })
  await database.sql`create table written (n integer)`
  const proxy = await openProxy(database.url)
  const sql = connect(proxy.url, { max: 1, name: 'cut', timeoutMs: 60_000 })
  await sql`select 1`
  return {
    sql,
    cut(cuts: number) {
      let left = cuts
      // The requests of a connection's start pass: they begin with their length.
      proxy.judge((bytes): Fate => (bytes[0] === 0 || left-- <= 0 ? 'pass' : 'cut before'))
    },
    written: async () => (await database.sql`select n from written`).length,
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

const kinds: Record<string, (sql: Sql) => Promise<unknown>> = {
  'a statement': (sql) => sql`insert into written values (${1})`,
  'a statement of text': (sql) => sql.unsafe('insert into written values (1)'),
  'a transaction': (sql) => sql.begin((tx) => tx`insert into written values (${1})`),
}

for (const [kind, write] of Object.entries(kinds)) {
  verifies('contract-35.unsent', `${kind} whose connection was cut before goes once more on another one`, async () => {
    await using scene = await openScene()
    scene.cut(1)
    await write(scene.sql)
    expect(await scene.written()).toBe(1)
    scene.cut(2)
    const failed = await write(scene.sql).then(
      () => null,
      (error: unknown) => error,
    )
    expect([changedNothing(failed), isUnavailable(failed)]).toEqual([true, true])
    expect(await scene.written()).toBe(1)
  })
}

verifies('contract-35.unsent', 'a transaction that is cut behind its begin does not go again by itself', async () => {
  await using scene = await openScene()
  let runs = 0
  const cut = scene.sql.begin(async (tx) => {
    runs += 1
    await tx`select 1`
    scene.cut(1)
    await tx`insert into written values (${1})`
  })
  await expect(cut).rejects.toThrow()
  expect([runs, await scene.written()]).toEqual([1, 0])
})
