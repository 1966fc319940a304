/**
 * What a running reply needs to go on elsewhere, as it is stored while it runs: JSON with a version, of the same parts as what
 * waiting sessions carry (stored-carried.ts), and by the same rule: a version's schema never changes.
 */
import Type, { type Static } from 'typebox'
import { Check, Errors } from 'typebox/value'
import type { ReplyStart, StoredTurn } from '../../../actors/ports/index.ts'
import {
  inForceOf,
  openTurn,
  orNull,
  storedFields,
  storedTool,
  strict,
  turnOf,
} from '../../approvals/store/stored-carried.ts'

const start = Type.Object(
  {
    tools: Type.Array(storedTool),
    fields: storedFields,
    overrides: orNull(Type.Unsafe<object>(Type.Object({}))),
    toolChoice: orNull(
      Type.Union([
        Type.Literal('auto'),
        Type.Literal('none'),
        Type.Literal('required'),
        Type.Object({ name: Type.String() }, strict),
      ]),
    ),
    reasoning: Type.Boolean(),
    shows: Type.Object({ approval: Type.Boolean(), caller: Type.Boolean() }, strict),
    instructions: orNull(Type.String()),
  },
  strict,
)

const used = Type.Object(
  {
    promptTokens: Type.Number(),
    completionTokens: Type.Number(),
    cachedTokens: Type.Optional(Type.Number()),
    cacheWriteTokens: Type.Optional(Type.Number()),
    reasoningTokens: Type.Optional(Type.Number()),
    estimated: Type.Boolean(),
  },
  strict,
)

const start1 = Type.Object({ version: Type.Literal(1), start }, strict)
const turn1 = Type.Object(
  {
    version: Type.Literal(1),
    /** Present with the reply's first turn only. */
    start: Type.Optional(start),
    turn: openTurn,
    spent: Type.Number(),
    used,
    attempts: Type.Number(),
    firstTokenMs: orNull(Type.Number()),
    reasoningMs: orNull(Type.Number()),
  },
  strict,
)

/** The schemas by version. The last ones are written. */
export const startSchemas = [start1] as const
export const turnSchemas = [turn1] as const

type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** These do not compile when a type is not what the newest schema says. */
true satisfies Same<Plain<Static<typeof start>>, Plain<ReplyStart>>
true satisfies Same<Plain<Omit<Static<typeof turn1>, 'version' | 'start'>>, Plain<StoredTurn>>

const plainStart = ({ toolChoice, reasoning, shows, instructions, ...inForce }: ReplyStart): Static<typeof start> => ({
  ...inForceOf(inForce),
  toolChoice: typeof toolChoice === 'object' && toolChoice !== null ? { name: toolChoice.name } : toolChoice,
  reasoning,
  shows: { approval: shows.approval, caller: shows.caller },
  instructions,
})

export const encodeStart = (from: ReplyStart): string =>
  JSON.stringify({ version: 1, start: plainStart(from) } satisfies Static<typeof start1>)

export function encodeTurn(stored: StoredTurn, from: ReplyStart | null): string {
  const { turn, spent, used: usage, attempts, firstTokenMs, reasoningMs } = stored
  return JSON.stringify({
    version: 1,
    ...(from && { start: plainStart(from) }),
    turn: turnOf(turn),
    spent,
    used: usage,
    attempts,
    firstTokenMs,
    reasoningMs,
  } satisfies Static<typeof turn1>)
}

function checked<Schema extends Type.TSchema>(what: string, schema: Schema, text: string): Static<Schema> {
  const value: unknown = JSON.parse(text)
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (version !== 1) throw new Error(`${what} has the version ${version}, which is not known.`)
  if (Check(schema, value)) return value
  const [fault] = Errors(schema, value)
  throw new Error(`${what} is not of version 1: ${fault?.instancePath} ${fault?.message}.`)
}

/** Rejects what no version has written that this one knows, with an error that names it. */
export const decodeStart = (text: string): ReplyStart => checked('What a reply began with', start1, text).start

/** As `decodeStart`. */
export function decodeTurn(text: string): { turn: StoredTurn; start: ReplyStart | null } {
  const { version: _, start: from = null, ...turn } = checked('A turn of a running reply', turn1, text)
  return { turn, start: from }
}
