/** Gives a function that runs the work of one key one after the other; keys do not wait for each other. */
export function inTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const done = before.then(work, work)
    last.set(key, done)
    const forget = () => {
      if (last.get(key) === done) last.delete(key)
    }
    done.then(forget, forget)
    return done
  }
}
