/**
 * The type that a statement claims of its rows, sql<Row[]>`…`, is believed by the compiler. Here PostgreSQL is asked:
 * each statement is prepared, and its columns are compared with the type in names, types and, as far as PostgreSQL
 * knows it, in what may be null.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { type Column, columnsOf, type Property, propertiesOf } from './columns.ts'
import { Source } from './source.ts'
import { formsOf, itemsOf, NotFollowed, type Statement, typedStatements } from './statements.ts'
import { accepted, insideJson, notFollowed } from './unseen.ts'

let database: FreshDatabase
let source: Source
const found = { faults: [] as string[], notFollowed: [] as string[], json: new Set<string>() }

beforeAll(async () => {
  database = await freshDatabase()
  source = new Source()
  for (const typed of typedStatements(source)) {
    const forms = followed(typed)
    if (forms === null) found.notFollowed.push(typed.name)
    else found.faults.push(...(await faultsOf(forms)))
  }
})
afterAll(() => database.drop())

function followed(typed: Parameters<typeof formsOf>[1]): Statement[] | null {
  try {
    return formsOf(source, typed)
  } catch (error) {
    if (error instanceof NotFollowed) return null
    throw error
  }
}

/** Of all forms of one statement. */
async function faultsOf(forms: readonly Statement[]): Promise<string[]> {
  const faults = new Set<string>()
  const optional = new Map<string, boolean>()
  for (const form of forms) {
    const properties = propertiesOf(source, form)
    const columns = await columnsOf(database.sql, form)
    for (const fault of compared(form, columns, properties)) faults.add(`${form.name}: ${fault}`)
    for (const [name, { isOptional }] of properties) {
      if (isOptional) optional.set(name, (optional.get(name) ?? false) || columns.has(name))
    }
    const items = itemsOf(source, form)
    if (items === null) continue
    const rows = await columnsOf(database.sql, items.form)
    for (const name of items.removed) rows.delete(name)
    for (const fault of compared(items.form, inJson(rows), propertiesOf(source, items.form))) {
      faults.add(`${items.form.name}: ${fault}`)
    }
  }
  const neverRead = [...optional]
    .filter(([, isGiven]) => !isGiven)
    .map(([name]) => `${forms[0]?.name}: ${name} is never read`)
  return [...faults, ...neverRead]
}

/** What becomes of columns in JSON: times are texts. */
const inJson = (columns: ReadonlyMap<string, Column>): Map<string, Column> =>
  new Map(
    [...columns].map(([name, column]) => [name, { ...column, kind: column.kind === 'date' ? 'string' : column.kind }]),
  )

function* compared(
  { text }: Statement,
  columns: ReadonlyMap<string, Column>,
  properties: ReadonlyMap<string, Property>,
): Generator<string> {
  for (const name of columns.keys()) {
    // `m.*` reads more than its row names.
    if (!properties.has(name) && !/\bm\.\*/.test(text)) yield `${name} is a column, and not in the type`
  }
  for (const [name, { kinds, isNullable, isOptional }] of properties) {
    const column = columns.get(name)
    if (!column) {
      if (!isOptional) yield `${name} is in the type, and no column`
      continue
    }
    if (kinds.includes('any')) continue // it is decoded
    if (column.kind === 'json' && !kinds.includes('date')) {
      if (name !== 'items' && kinds.some((kind) => kind === 'json' || kind.endsWith('[]'))) found.json.add(name)
    } else if (kinds.join() !== column.kind) yield `${name} is ${column.kind}, in the type ${kinds.join(' or ')}`
    if (column.isNullable === null || column.isNullable === isNullable) continue
    yield `${name} ${column.isNullable ? 'may be null, and not in the type' : 'may be null in the type alone'}`
  }
}

test('each statement gives the rows that its type claims', () => {
  expect(found.faults.toSorted()).toEqual(accepted.toSorted())
})

test('no statement, and no column of JSON, is newly unseen', () => {
  expect(found.notFollowed.toSorted()).toEqual(notFollowed)
  expect([...found.json].sort()).toEqual(insideJson)
})
