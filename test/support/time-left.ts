/**
 * The end of a run in CI, which is ended as a whole after 90 minutes on a machine that has hours several times as slow as
 * others. Tests that have not begun by TEST_ENDS_AT (milliseconds since 1970; `.ci/run` sets it) are skipped and counted.
 */
const endsAt = Number(process.env.TEST_ENDS_AT ?? Number.POSITIVE_INFINITY)

export const isTimed = Number.isFinite(endsAt)

export const isOver = (): boolean => Date.now() > endsAt
