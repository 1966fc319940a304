/** All cases, in report order; `memory` is the last of those that share a turn. */
import type { Case } from '../runner/case.ts'
import { cost } from './cost.ts'
import { firstTokenParts } from './replies/first-token.ts'
import { memory } from './replies/memory.ts'
import { resume } from './replies/resume.ts'
import { streamCases } from './replies/stream.ts'
import { subscribers } from './replies/subscribers.ts'
import { mostTokens, shortReplies } from './replies/throughput.ts'
import { search } from './search.ts'
import { secrets } from './secrets.ts'
import { startUp } from './start-up.ts'
import { growth } from './stored/growth.ts'
import { history } from './stored/history.ts'
import { lists } from './stored/lists.ts'
import { traces } from './stored/traces.ts'
import { uploads } from './uploads.ts'

const sideBySide: readonly Case[] = [...streamCases, mostTokens, shortReplies, memory]
const ofGreenroom: readonly Case[] = [
  firstTokenParts,
  subscribers,
  resume,
  history,
  lists,
  cost,
  search,
  secrets,
  traces,
  uploads,
  startUp,
  growth,
]

export const allCases: readonly Case[] = [...sideBySide, ...ofGreenroom]
