/** Batches the reads of concurrent requests into one statement. */

/** Concurrent reads: with one, a slow read would delay all that follow. */
const AT_ONCE = 2

/**
 * Reads by key. A request that arrives while the maximum of reads is in flight joins the next one. That one starts
 * after the request, so its result is no older than that of a separate read. `load` returns what it finds; a key
 * without a value resolves to null.
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
