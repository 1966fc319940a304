/**
 * The longest that a test waits for something that must come. It is no measurement: on a busy machine everything takes
 * several times as long, and what comes in time is not waited for. `expect.poll` has it by default (vitest.config.ts).
 */
export const WAIT_MS = 30_000
