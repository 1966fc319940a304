/**
 * The longest that a test waits for something that must happen. Not a measurement: on a busy machine everything takes
 * several times as long, and success ends the wait at once. The default of `expect.poll` (vitest.config.ts).
 */
export const WAIT_MS = 60_000
