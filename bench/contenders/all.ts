/** All contenders, in table order. */

import type { Checkout } from '../environment/checkout.ts'
import type { Contender } from '../runner/contender.ts'
import { contenders as aiSdk } from './ai-sdk.ts'
import { contenders as direct } from './direct.ts'
import { greenroomContenders } from './greenroom.ts'
import { contenders as handWritten } from './hand-written.ts'
import { contenders as langgraph } from './langgraph.ts'
import { contenders as mastra } from './mastra.ts'
import { contenders as portkey } from './portkey.ts'
import { contenders as raw } from './raw.ts'

export const allContenders = (checkouts: readonly Checkout[]): Contender[] => [
  ...direct,
  ...raw,
  ...handWritten,
  ...portkey,
  ...aiSdk,
  ...langgraph,
  ...mastra,
  ...checkouts.flatMap(greenroomContenders),
]
