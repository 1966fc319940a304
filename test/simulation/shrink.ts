/** Fewer actions that show the same fault. */
import { type Action, actionsOf, simulate } from './simulate.ts'

/** Leaves out one action after the other, as long as one of `broken` is found without it. */
export async function shrunk(seed: number, broken: readonly string[]): Promise<Action[]> {
  let least = actionsOf(seed)
  for (let at = 0; at < least.length; ) {
    const fewer = least.filter((_, index) => index !== at)
    const found = await simulate(seed, fewer)
    if (found.some((what) => broken.includes(what))) least = fewer
    else at += 1
  }
  return least
}
