/** What PostgreSQL says of a statement's columns, and what TypeScript says of its row: both in the same words. */
import ts from 'typescript'
import type { Sql } from '../../../src/persistence/postgres/database.ts'
import type { Source } from './source.ts'
import type { Statement } from './statements.ts'

/** The values that the library makes of PostgreSQL's types. */
export type Kind = 'string' | 'number' | 'boolean' | 'date' | 'bytes' | 'json' | 'any' | `${string}[]`

export interface Column {
  kind: Kind
  /** Null when PostgreSQL says nothing of what it computes. */
  isNullable: boolean | null
}

const numbers = ['int2', 'int4', 'int8', 'oid', 'float4', 'float8']
const others: Record<string, Kind> = {
  bool: 'boolean',
  timestamptz: 'date',
  timestamp: 'date',
  date: 'date',
  bytea: 'bytes',
  json: 'json',
  jsonb: 'json',
}

function kindOf(type: string): Kind {
  if (type.startsWith('_')) return `${kindOf(type.slice(1))}[]`
  return numbers.includes(type) ? 'number' : (others[type] ?? 'string')
}

/** A property of a row's type. */
export interface Property {
  kinds: Kind[]
  isNullable: boolean
  isOptional: boolean
}

/** By name. The statement is prepared, not run. */
export async function columnsOf(sql: Sql, { text, parameters }: Statement): Promise<Map<string, Column>> {
  const values = parameters.map((type) => (type === 'boolean' ? true : type === 'date' ? new Date(0) : null))
  const { columns } = await sql.unsafe(text, values).describe()
  const places = columns.map((column) => Object(column) as { type: number; table: number; number: number })
  const known = await sql`
    select t.typname as type, a.attnotnull as "isNotNull"
      from unnest(${places.map(({ type }) => type)}::bigint[], ${places.map(({ table }) => table)}::bigint[],
                  ${places.map(({ number }) => number)}::integer[]) with ordinality as c (type, tab, num, place)
      join pg_type t on t.oid = c.type
      left join pg_attribute a on c.tab > 0 and a.attrelid = c.tab and a.attnum = c.num
     order by c.place`
  const mayBeMissing = /\b(left|right|full)\s+join\b/.test(text)
  return new Map(
    columns.map(({ name }, index) => {
      const { type, isNotNull } = known[index] ?? {}
      const isNullable = isNotNull === null || (isNotNull && mayBeMissing) ? null : !isNotNull
      return [name, { kind: kindOf(`${type}`), isNullable }]
    }),
  )
}

/** The properties of a row's type. */
export function propertiesOf({ checker }: Source, { row, at }: Pick<Statement, 'row' | 'at'>): Map<string, Property> {
  const properties = checker.getPropertiesOfType(row).map((property) => {
    const type = checker.getTypeOfSymbolAtLocation(property, at)
    const parts = partsOf(checker, type)
    const kinds = parts.filter((part) => !isEmpty(part)).map((part) => kindOfType(checker, part))
    const isNullable = parts.some(isEmpty)
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    return [property.name, { kinds: [...new Set(kinds)], isNullable, isOptional }] as [string, Property]
  })
  return new Map(properties)
}

const isEmpty = ({ flags }: ts.Type): boolean => (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0

function partsOf(checker: ts.TypeChecker, type: ts.Type): ts.Type[] {
  const bound = type.flags & ts.TypeFlags.TypeParameter ? (checker.getBaseConstraintOfType(type) ?? type) : type
  return bound.isUnion() ? bound.types : [bound]
}

function kindOfType(checker: ts.TypeChecker, type: ts.Type): Kind {
  const { flags } = type
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'any'
  if (flags & ts.TypeFlags.StringLike) return 'string'
  if (flags & ts.TypeFlags.NumberLike) return 'number'
  if (flags & ts.TypeFlags.BooleanLike) return 'boolean'
  const name = type.getSymbol()?.name
  if (name === 'Date') return 'date'
  if (name === 'Buffer' || name === 'Uint8Array') return 'bytes'
  const element = checker.isArrayType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined
  if (!element) return 'json'
  const kinds = new Set(
    partsOf(checker, element)
      .filter((part) => !isEmpty(part))
      .map((part) => kindOfType(checker, part)),
  )
  return `${[...kinds].join('|')}[]`
}
