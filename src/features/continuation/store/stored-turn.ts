/** Stores what another instance needs to continue a running reply: JSON with a version, kept while the reply runs. */
import Type, { type Static } from 'typebox'
import type { ReplyStart, StoredTurn } from '../../../actors/ports/index.ts'
import {
  orNull,
  storedFields,
  storedKinds,
  storedOverrides,
  storedTool,
  storedToolChoice,
  storedTurn,
  strict,
} from '../../../persistence/stored-forms/shared-schemas.ts'
import { type SameFields, versionedCodec } from '../../../persistence/stored-json.ts'

const start = Type.Object(
  {
    tools: Type.Array(storedTool),
    fields: storedFields,
    overrides: storedOverrides,
    toolChoice: storedToolChoice,
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
    turn: storedTurn,
    spent: Type.Number(),
    used,
    attempts: Type.Number(),
    firstTokenMs: orNull(Type.Number()),
    reasoningMs: orNull(Type.Number()),
  },
  strict,
)

export const startSchemas = [start1] as const
export const turnSchemas = [turn1] as const

/** A check that does not compile if a type has other fields than the newest schema. */
true satisfies SameFields<Static<typeof start>, ReplyStart>
true satisfies SameFields<Omit<Static<typeof turn1>, 'version' | 'start' | 'turn'>, Omit<StoredTurn, 'turn'>>

const starts = versionedCodec('What a reply began with', startSchemas)
const turns = versionedCodec('A turn of a running reply', turnSchemas)

export const encodeStart = (from: ReplyStart): string => starts.encode({ version: 1, start: from })

export const decodeStart = (text: string): ReplyStart => starts.decode(text).start

/** Encodes a turn. `from` is given with the reply's first turn only. */
export const encodeTurn = (stored: StoredTurn, from: ReplyStart | null): string =>
  turns.encode({ version: 1, ...(from && { start: from }), ...stored, turn: storedKinds(stored.turn) })

export function decodeTurn(text: string): { turn: StoredTurn; start: ReplyStart | null } {
  const { version: _, start: from = null, ...turn } = turns.decode(text)
  return { turn, start: from }
}
