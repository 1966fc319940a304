import { tier } from './tier.ts'

/**
 * The longest that a test waits for something that must happen. Not a measurement: on a busy machine everything takes
 * several times as long, and success ends the wait at once. The default of `expect.poll` (vitest.config.ts). Twice as
 * long in the long tier, whose browsers and pairs of instances a slow hour holds up most.
 */
export const WAIT_MS = tier === 'long' ? 120_000 : 60_000
