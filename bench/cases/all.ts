/** Every case, in the order of the report; `memory` is the last of those that share a turn. */
import type { Case } from '../case.ts'
import { memory } from './memory.ts'
import { streamCases } from './stream.ts'
import { mostTokens, shortReplies } from './throughput.ts'

export const allCases: readonly Case[] = [...streamCases, mostTokens, shortReplies, memory]
