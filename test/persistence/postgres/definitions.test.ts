/** SQL functions are put in force by revision: the newest that any version brought stays (contract section 1). */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockOf, notRaised } from '../../../scripts/definitions-lock.ts'
import { readDefinitions } from '../../../src/persistence/postgres/schema/definitions.ts'
import { applySchema } from '../../../src/persistence/postgres/schema/migrate.ts'
import { migrate, schema } from '../../../src/persistence/schema.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { verifies } from '../../verifies.ts'

let database: FreshDatabase
let folder: string
beforeAll(async () => {
  database = await freshDatabase()
  folder = await temporaryFolder()
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await database.drop()
})

const answerOf = (revision: number, answer: string) =>
  `-- revision ${revision}\ncreate or replace function answer() returns text language sql as $$ select '${answer}' $$;\n`

/** A version of the program that brings this text. */
async function start(text: string): Promise<string[]> {
  await writeFile(join(folder, 'answer.sql'), text)
  return applySchema(database.sql, { ...schema, definitions: [...schema.definitions, folder] })
}
const answer = async () => (await database.sql<{ answer: string }[]>`select answer()`)[0]?.answer

test('a new database has each function once, and none that no file defines', async () => {
  const defined = (await readDefinitions(schema.definitions)).map(({ name }) => name)
  const rows = await database.sql<{ name: string }[]>`
    select proname as name from pg_proc
     where pronamespace = 'public'::regnamespace
       -- A trigger's stands in the migration that makes the trigger, until its text changes.
       and (prorettype <> 'trigger'::regtype or proname = any(${defined}::text[]))
     order by proname collate "C"`
  expect(rows.map(({ name }) => name)).toEqual(defined)
})

verifies('contract-1.migrations', 'a text is put in force once; an older version never puts back its own', async () => {
  expect(await start(answerOf(1, 'one'))).toEqual(['answer'])
  expect(await start(answerOf(1, 'one'))).toEqual([])
  expect(await start(answerOf(3, 'three'))).toEqual(['answer'])
  expect(await start(answerOf(1, 'one'))).toEqual([])
  expect(await answer()).toBe('three')
  expect(await migrate(database.sql)).toEqual([]) // of a version that knows nothing of it
  expect(await answer()).toBe('three')
  // While it is being written: the same revision, another text.
  expect(await start(answerOf(3, 'drei'))).toEqual(['answer'])
  expect(await answer()).toBe('drei')
  expect(await start(answerOf(3, 'drei').replaceAll('\n', '\r\n'))).toEqual([])
})

test('a file that does not say its revision is an error that names it', async () => {
  await expect(start('create function answer() …')).rejects.toThrow(/answer\.sql: the first line must be/)
})

test('a text that was changed asks for a higher revision than the locked one', async () => {
  const [one, ...others] = await readDefinitions(schema.definitions)
  if (one === undefined) throw new Error('There is none.')
  const lock = lockOf([one, ...others])
  const changed = { ...one, checksum: 'other' }
  expect(notRaised([one, ...others], lock)).toEqual([])
  expect(notRaised([changed, ...others], lock)).toEqual([changed])
  expect(notRaised([{ ...changed, revision: one.revision - 1 }], lock)).toHaveLength(1)
  expect(
    notRaised(
      [
        { ...changed, revision: one.revision + 1 },
        { ...one, name: 'new' },
      ],
      lock,
    ),
  ).toEqual([])
})
