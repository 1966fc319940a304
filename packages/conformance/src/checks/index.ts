/** All checks, in the order in which they run. */
import { type Level, levels } from '../types.ts'
import { clusterChecks, durableChecks } from './durable.ts'
import { replyChecks } from './replies.ts'
import { resumeChecks, streamChecks } from './stream.ts'

/** All checks. */
export const checks = [...streamChecks, ...resumeChecks, ...replyChecks, ...durableChecks, ...clusterChecks]

type KnownCheck = (typeof checks)[number]
/** The stable id of a check. */
export type CheckId = KnownCheck['id']

/** Returns the checks of a level and of those before it, whose ids match. */
export const checksOf = (level: Level, only: RegExp | null): KnownCheck[] =>
  checks.filter((check) => levels.indexOf(check.level) <= levels.indexOf(level) && (only?.test(check.id) ?? true))
