import { setImmediate } from 'node:timers/promises'

/** Gives a function that resolves in a turn of the event loop in which it does for nobody else who called it. */
export function ownTurns(): () => Promise<unknown> {
  let turns: Promise<unknown> = Promise.resolve()
  return () => {
    turns = turns.then(() => setImmediate())
    return turns
  }
}
