/** Everyone who takes part, in the order of the tables. */
import type { Contender } from '../contender.ts'
import { contenders as direct } from './direct.ts'
import { type Checkout, greenroomContenders } from './greenroom.ts'
import { contenders as handWritten } from './hand-written.ts'
import { contenders as raw } from './raw.ts'

export const allContenders = (checkouts: readonly Checkout[]): Contender[] => [
  ...direct,
  ...raw,
  ...handWritten,
  ...checkouts.flatMap(greenroomContenders),
]
