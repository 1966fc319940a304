/**
 * Group commit: one statement stores all that came while the one before was under way. For what is written once; what is
 * written all the time is stored by replies/writing/flush-queue.ts, which takes a reply's events as late as it can.
 */

export interface GroupOptions<Item, Answer> {
  /** Stores all of these by one statement, which waits for none of them. Null when one is to be asked alone. */
  together(items: readonly Item[]): Promise<(Answer | null)[]>
  /** Stores an item that came alone, that `together` left out (`failed` null), or that it may have stored before it failed. */
  alone(item: Item, failed: Failed | null): Promise<Answer>
}

/** The reason for a failure of `together`, and the time of its begin (ms, monotonic). */
export interface Failed {
  error: unknown
  begin: number
}

export interface GroupItem {
  /** The lane. Items of one lane that go alone do so in their order. */
  lane: string
  /** A row of the statement, as JSON. */
  row: string
}

interface Waiting<Item, Answer> {
  item: Item
  resolve(answer: Answer | Promise<Answer>): void
}

/** The largest statement: rows, and roughly characters. A larger one would delay those in it, and gain little. */
const MOST_ROWS = 64
const MOST_CHARACTERS = 1 << 20

/**
 * After a batch of several, the first item waits this long (ms) for as many: alone it costs as much as ten. With 16 short
 * replies at a time PostgreSQL takes a sixth less for each than where they wait 2 ms for half as many, and more come a second.
 */
const BATCH_WAIT_MS = 5
/** After this much quiet (ms) a single item does not wait. */
const QUIET_MS = 100

/** The time that a statement may hold the next one back (ms): the others do not wait for a connection that is silent. */
const HOLD_MS = 100
/** The same of one that came alone: it may wait for a lock. */
const HOLD_ALONE_MS = 10

/** Returns how many rows of these lengths, from the first on, one statement may hold. */
function countFitting(lengths: readonly number[]): number {
  let size = 0
  const end = lengths.findIndex((length, count) => {
    size += length
    return count === MOST_ROWS || (count > 0 && size > MOST_CHARACTERS)
  })
  return end < 0 ? lengths.length : end
}

/**
 * Creates a function that stores an item, and rejects as `alone` does. A single item skips the batch statement: that is no
 * faster for one, and what it skips would be sent twice.
 */
export function createGroup<Item extends GroupItem, Answer>({ together, alone }: GroupOptions<Item, Answer>) {
  let queue: Waiting<Item, Answer>[] = []
  let writing = false
  /** The size of recent batches. */
  let recentBatchSize = 1
  let wroteAt = 0
  let onArrival = () => {}

  /** Returns whether enough items wait for a batch statement. */
  const hasEnough = () => queue.length >= recentBatchSize
  function waitForMore(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, BATCH_WAIT_MS)
    onArrival = () => {
      if (!hasEnough()) return
      clearTimeout(timer)
      resolve()
    }
    return promise
  }

  function takeBatch(): Waiting<Item, Answer>[] {
    const count = countFitting(queue.map(({ item }) => item.row.length))
    const batch = queue.slice(0, count)
    queue = queue.slice(count)
    return batch
  }

  async function write(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    if (batch.length === 1) return await askAlone(batch, null)
    const begin = performance.now()
    try {
      const answers = await together(batch.map(({ item }) => item))
      const left = batch.filter(({ resolve }, n) => {
        const answer = answers[n] ?? null
        if (answer !== null) resolve(answer)
        return answer === null
      })
      void askAlone(left, null)
    } catch (error) {
      void askAlone(batch, { error, begin })
    }
  }

  /** Asks items alone. Items of one lane wait for each other. Never rejects. */
  async function askAlone(left: readonly Waiting<Item, Answer>[], failed: Failed | null): Promise<void> {
    const byLane = [...Map.groupBy(left, ({ item }) => item.lane).values()]
    const inTurn = async (ofLane: readonly Waiting<Item, Answer>[]) => {
      for (const { item, resolve } of ofLane) {
        const answer = alone(item, failed)
        resolve(answer)
        await answer.catch(() => {})
      }
    }
    await Promise.all(byLane.map(inTurn))
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      if (!hasEnough()) await waitForMore()
      const batch = takeBatch()
      const isAlone = batch.length === 1
      recentBatchSize = Math.max(batch.length, recentBatchSize >> 1)
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const timer = setTimeout(letGo, isAlone ? HOLD_ALONE_MS : HOLD_MS)
      await Promise.race([write(batch), held])
      clearTimeout(timer)
    }
    writing = false
    wroteAt = performance.now()
  }

  return (item: Item): Promise<Answer> =>
    new Promise((resolve) => {
      queue.push({ item, resolve })
      onArrival()
      if (writing) return
      writing = true
      if (performance.now() - wroteAt > QUIET_MS) recentBatchSize = 1
      // Where several came together before, those of this turn of the event loop go along.
      if (recentBatchSize === 1) void writeAll()
      else setImmediate(() => void writeAll())
    })
}
