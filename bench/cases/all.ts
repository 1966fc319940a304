/** All cases, in report order; `memory` is the last of those that share a turn. */
import type { Case } from '../case.ts'
import { branches } from './branches.ts'
import { cost } from './cost.ts'
import { firstTokenParts } from './first-token.ts'
import { growth } from './growth.ts'
import { held } from './held.ts'
import { history } from './history.ts'
import { lists } from './lists.ts'
import { memory } from './memory.ts'
import { resume } from './resume.ts'
import { scale } from './scale.ts'
import { secrets } from './secrets.ts'
import { startUp } from './start-up.ts'
import { streamCases } from './stream.ts'
import { subscribers } from './subscribers.ts'
import { mostTokens, shortReplies } from './throughput.ts'
import { tools } from './tools.ts'
import { traces } from './traces.ts'
import { uploads } from './uploads.ts'

const sideBySide: readonly Case[] = [...streamCases, mostTokens, shortReplies, memory]
const ofGreenroom: readonly Case[] = [
  firstTokenParts,
  subscribers,
  resume,
  held,
  history,
  branches,
  lists,
  cost,
  secrets,
  tools,
  traces,
  uploads,
  startUp,
  growth,
  scale,
]

export const allCases: readonly Case[] = [...sideBySide, ...ofGreenroom]
