/** The machine's monotonic clock in microseconds, as the model stamps its tokens: the same in every process. */

/** A pause between the two readings makes the result too small, so the largest of several is right. */
const originUs = Math.max(
  ...Array.from({ length: 20 }, () => Number(process.hrtime.bigint() / 1000n) - performance.now() * 1000),
)

export const nowUs = (): number => originUs + performance.now() * 1000
