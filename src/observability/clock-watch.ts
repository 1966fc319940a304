/**
 * How far this machine's clock is from the database's. Client secrets end by the instances' clocks: one that is ahead refuses
 * fresh ones, and one that is behind takes old ones.
 */

/** Milliseconds. What is more is no delay of a network. */
const MOST_OFF = 30_000

export type ClockWatch = ReturnType<typeof createClockWatch>

/** Warns when the clock goes wrong, and says when it is right again. */
export function createClockWatch(log: { warn(details: object, message: string): void; info(message: string): void }) {
  let offset = 0
  const isOff = () => Math.abs(offset) > MOST_OFF
  return {
    /** Takes the database's clock (ms since 1970), read between the sending and the answer of a statement. */
    saw(databaseMs: number, sentAtMs: number, answeredAtMs: number): void {
      const wasOff = isOff()
      // The database read its clock somewhere between the two: the least possible difference counts.
      const [least, most] = [sentAtMs - databaseMs, answeredAtMs - databaseMs]
      offset = least > 0 ? least : Math.min(most, 0)
      if (isOff() === wasOff) return
      if (wasOff) log.info('The clock agrees with the database again.')
      else
        log.warn(
          { aheadS: Math.round(offset / 1000) },
          "The clock differs from the database's by more than 30 s: client secrets end too early or too late here.",
        )
    },
    /** Returns by how much this clock is ahead; negative where it is behind. 0 before anything is known. */
    offsetMs: () => offset,
    isOff,
  }
}
