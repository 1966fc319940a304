/**
 * The keywords of JSON Schema that compare numbers, digit by digit: 9007199254740993 and 9007199254740992 are one number
 * to JavaScript, and so to Ajv (contract section 35).
 */
import type { ErrorObject, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import { digitsOf, parseExact, writeExact } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { canonicalText } from '../../untrusted/json/equal-json.ts'
import { withSubschemas } from '../../untrusted/json/subschemas.ts'

type JsonSchema = Record<string, unknown>

/** The keyword that holds the others, as a JSON text. */
const KEYWORD = 'greenroom:exact'

const moved = new Set([
  ...['const', 'enum', 'uniqueItems', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
])

/** Returns a schema's text with the keywords that compare in one that `exactKeyword` applies. */
export function exactSchema(text: string): string {
  const schema = parseExact(text)
  return JSON.stringify(isObject(schema) ? moving(schema) : schema)
}

function moving(schema: JsonSchema): JsonSchema {
  const { own = [], others = [] } = Object.groupBy(Object.entries(schema), ([keyword]) =>
    moved.has(keyword) ? 'own' : 'others',
  )
  const read = others.map(([keyword, value]): [string, unknown] => [keyword, withSubschemas(keyword, value, moving)])
  return Object.fromEntries(own.length === 0 ? read : [...read, [KEYWORD, JSON.stringify(Object.fromEntries(own))]])
}

/** A rule that a value breaks. */
type Broken = Pick<ErrorObject, 'message' | 'params'>

/** The check of one keyword. Null for a value that fits. `text`: the value as JSON. */
type Rule = (value: unknown, text: string) => Broken | null

/** The keyword of `exactSchema`, for values of `parseNoted`. */
export const exactKeyword: FuncKeywordDefinition = {
  keyword: KEYWORD,
  schemaType: 'string',
  compile(held: string) {
    const rules = rulesOf(Object(parseExact(held)))
    const check: SchemaValidateFunction & ((value: unknown, place?: DataValidationCxt) => boolean) = (
      value: unknown,
      place?: DataValidationCxt,
    ) => {
      const text = textOf(value, place)
      const broken = rules.map((rule) => rule(value, text)).find((one) => one !== null)
      check.errors = broken ? [{ keyword: KEYWORD, ...broken }] : []
      return broken === undefined
    }
    return check
  },
}

function textOf(value: unknown, place: DataValidationCxt | undefined): string {
  const digits = typeof value === 'number' && place && digitsOf(place.parentData, String(place.parentDataProperty))
  return digits || writeExact(value)
}

const rulesOf = (held: JsonSchema): Rule[] =>
  Object.entries(held).flatMap(([keyword, given]) => ruleOf(keyword, given, held) ?? [])

function ruleOf(keyword: string, given: unknown, { exclusiveMinimum, exclusiveMaximum }: JsonSchema): Rule | null {
  const limit = JSON.stringify(given)
  switch (keyword) {
    case 'const':
      return among([limit], { message: 'must be equal to constant', params: {} })
    case 'enum':
      if (!Array.isArray(given)) return null
      return among(
        given.map((one) => JSON.stringify(one)),
        {
          message: 'must be equal to one of the allowed values',
          params: { allowedValues: given },
        },
      )
    case 'uniqueItems':
      return given === true ? unique : null
    case 'multipleOf':
      return onNumbers(`must be multiple of ${limit}`, (text) => isMultiple(text, limit))
    // Draft-04's exclusive bounds are true.
    case 'minimum':
      return bound(exclusiveMinimum === true ? '>' : '>=', limit)
    case 'maximum':
      return bound(exclusiveMaximum === true ? '<' : '<=', limit)
    case 'exclusiveMinimum':
      return typeof given === 'boolean' ? null : bound('>', limit)
    case 'exclusiveMaximum':
      return typeof given === 'boolean' ? null : bound('<', limit)
    default:
      return null
  }
}

function among(texts: readonly string[], broken: Broken): Rule {
  const allowed = new Set(texts.map(canonicalText))
  return (_, text) => (allowed.has(canonicalText(text)) ? null : broken)
}

const unique: Rule = (value) => {
  if (!Array.isArray(value)) return null
  const texts = value.map((item, index) =>
    canonicalText(textOf(item, { ...nowhere, parentData: value, parentDataProperty: index })),
  )
  return new Set(texts).size === texts.length ? null : { message: 'must NOT have duplicate items', params: {} }
}

const nowhere = { instancePath: '', rootData: {}, dynamicAnchors: {} }

const onNumbers =
  (message: string, holds: (text: string) => boolean): Rule =>
  (value, text) =>
    typeof value !== 'number' || holds(text) ? null : { message, params: {} }

const bounds = {
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
}

const bound = (sign: keyof typeof bounds, limit: string): Rule =>
  onNumbers(`must be ${sign} ${limit}`, (text) => {
    const [one, other] = comparable(text, limit)
    return bounds[sign](one < other ? -1 : one > other ? 1 : 0)
  })

function isMultiple(text: string, of: string): boolean {
  const [one, other] = comparable(text, of)
  if (typeof one === 'bigint' && typeof other === 'bigint') return other !== 0n && one % other === 0n
  return Number.isInteger(Number(text) / Number(of))
}

/** The largest exponent that is written out. */
const MOST_ZEROS = 1_000

/** Returns two numbers by one power of ten, as whole numbers. One with a larger exponent stays JavaScript's. */
function comparable(one: string, other: string): [bigint, bigint] | [number, number] {
  const [a, b] = [decimalOf(one), decimalOf(other)]
  const least = Math.min(a.exponent, b.exponent)
  if (Math.max(a.exponent, b.exponent) - least > MOST_ZEROS) return [Number(one), Number(other)]
  return [a.digits * 10n ** BigInt(a.exponent - least), b.digits * 10n ** BigInt(b.exponent - least)]
}

function decimalOf(text: string): { digits: bigint; exponent: number } {
  const [digits = '', exponent = '0'] = text.split(/e/i)
  const [whole = '', fraction = ''] = digits.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
