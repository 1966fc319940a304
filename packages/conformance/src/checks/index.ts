/** All checks, in the order in which they run. */
import { type Check, type Level, levels } from '../types.ts'
import { clusterChecks, durableChecks } from './durable.ts'
import { replyChecks } from './replies.ts'
import { resumeChecks, streamChecks } from './stream.ts'

export const checks: readonly Check[] = [
  ...streamChecks,
  ...resumeChecks,
  ...replyChecks,
  ...durableChecks,
  ...clusterChecks,
]

/** Returns the checks of a level and of those before it, whose ids match. */
export const checksOf = (level: Level, only: RegExp | null): Check[] =>
  checks.filter((check) => levels.indexOf(check.level) <= levels.indexOf(level) && (only?.test(check.id) ?? true))
