/** Reads of many requests at a time as one statement. */

/** Reads under way at a time: one alone would let a slow one hold up all who come after it. */
const AT_ONCE = 2

/**
 * Reads by key. Whoever asks while enough reads are under way shares the next one, which begins after they asked: what
 * they get is no older than what a read of their own would give. `load` gives what it finds; a key without a value
 * resolves to null.
 */
export function gathered<Value>(
  load: (keys: string[]) => Promise<Map<string, Value>>,
): (key: string) => Promise<Value | null> {
  let waiting: Promise<Map<string, Value>> | null = null
  let keys = new Set<string>()
  let running = 0
  let begin = () => {}

  async function read(wanted: Set<string>): Promise<Map<string, Value>> {
    running += 1
    try {
      return await load([...wanted])
    } finally {
      running -= 1
      begin()
    }
  }

  return async (key) => {
    if (running < AT_ONCE) return (await read(new Set([key]))).get(key) ?? null
    keys.add(key)
    waiting ??= new Promise<void>((resolve) => {
      begin = resolve
    }).then(() => {
      const wanted = keys
      keys = new Set()
      waiting = null
      begin = () => {}
      return read(wanted)
    })
    return (await waiting).get(key) ?? null
  }
}
