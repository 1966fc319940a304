/** Stores what a waiting session carries to its next reply: JSON with a version, kept for months. */
import Type, { type Static } from 'typebox'
import type { Carried } from '../../actors/ports/index.ts'
import { type SameFields, versionedCodec } from '../stored-json.ts'
import {
  type StoredOpenTurn,
  storedAnswer,
  storedFields,
  storedKinds,
  storedOverrides,
  storedResult,
  storedTool,
  storedTurn,
  strict,
} from './shared-schemas.ts'

const version1 = Type.Object(
  {
    version: Type.Literal(1),
    tools: Type.Array(storedTool),
    fields: storedFields,
    overrides: storedOverrides,
    chain: Type.Object(
      {
        said: Type.Array(Type.Union([storedAnswer, storedResult])),
        turn: storedTurn,
        spent: Type.Number(),
      },
      strict,
    ),
    firstId: Type.String(),
  },
  strict,
)

export const carriedSchemas = [version1] as const

/** `Carried` with the names that `chain` is stored under. */
type Renamed = Omit<Carried, 'chain'> & {
  chain: { said: Carried['chain']['turns']; turn: StoredOpenTurn; spent: Carried['chain']['callsUsed'] }
}
/** A check that does not compile if `Carried` has other fields than the newest schema. */
true satisfies SameFields<Omit<Static<typeof version1>, 'version'>, Renamed>
true satisfies SameFields<keyof Carried['chain'], 'turns' | 'turn' | 'callsUsed'>

const codec = versionedCodec('What a waiting session carries', carriedSchemas)

export function encodeCarried({ chain, ...carried }: Carried): string {
  const { turns, turn: open, callsUsed } = chain
  const turn = storedKinds(open)
  return codec.encode({ version: 1, ...carried, chain: { said: turns, turn, spent: callsUsed } })
}

export function decodeCarried(text: string): Carried {
  const { version: _, chain, ...carried } = codec.decode(text)
  return { ...carried, chain: { turns: chain.said, turn: chain.turn, callsUsed: chain.spent } }
}
