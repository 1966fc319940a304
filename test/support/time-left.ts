/**
 * CI ends a run as a whole after 90 minutes, and the machine has hours that are several times as slow as others. What has
 * not begun by TEST_ENDS_AT (milliseconds since 1970; `.ci/run` sets it) is skipped, and the report counts it.
 */
const endsAt = Number(process.env.TEST_ENDS_AT ?? Number.POSITIVE_INFINITY)

export const isTimed = Number.isFinite(endsAt)

export const isOver = (): boolean => Date.now() > endsAt
