/** The server's clock, from the `Date` of its answers: a reader's own may be minutes off. */

/** An answer's time is in whole seconds, and has travelled. */
const UNCERTAIN_MS = 2_000

let aheadMs = 0

export function noteServerTime(response: Response): void {
  const at = Date.parse(response.headers.get('date') ?? '')
  const difference = at + 500 - Date.now()
  if (!Number.isNaN(at)) aheadMs = Math.abs(difference) > UNCERTAIN_MS ? difference : 0
}

/** Returns milliseconds since 1970. */
export const serverNow = (): number => Date.now() + aheadMs
