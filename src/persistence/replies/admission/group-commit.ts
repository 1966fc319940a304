/**
 * Group commit for what a reply writes once: one statement stores all that came while the one before was under way.
 * (What it writes all the time is stored by flush-queue.ts, which takes a reply's events as late as it can.)
 */

export interface GroupOptions<Item, Answer> {
  /** One statement for all of these, which waits for none of them. Null: this one is to be asked alone. */
  together(items: readonly Item[]): Promise<(Answer | null)[]>
  /** What came alone, what `together` left out (`failed` null), and what it may have stored before it failed. */
  alone(item: Item, failed: Failed | null): Promise<Answer>
}

/** Why `together` failed, and when it began (ms, monotonic). */
export interface Failed {
  error: unknown
  begin: number
}

export interface GroupItem {
  /** Those of one session that go alone do so in their order. */
  sessionId: string
  /** A row of the statement, as JSON. */
  row: string
}

interface Waiting<Item, Answer> {
  item: Item
  resolve(answer: Answer | Promise<Answer>): void
}

/** Of one statement: rows, and characters, about. A larger one would delay those in it, and what it gains is little. */
const MOST_ROWS = 64
const MOST_CHARACTERS = 1 << 20

/** Where several came together the first waits for half as many, so long at most (ms): alone it costs as much as ten. */
const COMPANY_MS = 2
/** How long ago is lately (ms): after that much quiet one alone waits for nothing. */
const LATELY_MS = 100

/** How long a statement may hold the next one back (ms): the others do not wait for a connection that is silent. */
const HOLD_MS = 100
/** The same of one that came alone: it may wait for a lock. */
const HOLD_ALONE_MS = 10

/** How many rows of these lengths, from the first on, one statement may hold. */
function countFitting(lengths: readonly number[]): number {
  let size = 0
  const end = lengths.findIndex((length, count) => {
    size += length
    return count === MOST_ROWS || (count > 0 && size > MOST_CHARACTERS)
  })
  return end < 0 ? lengths.length : end
}

/**
 * The returned function rejects as `alone` does. What comes alone waits for nothing, and goes alone: for one the statement
 * for many takes as long, and what it leaves out would be asked twice.
 */
export function createGroup<Item extends GroupItem, Answer>({ together, alone }: GroupOptions<Item, Answer>) {
  let queue: Waiting<Item, Answer>[] = []
  let writing = false
  /** How many came together lately. */
  let crowd = 1
  let wroteAt = 0
  let onCome = () => {}

  /** Whether those that wait are worth a statement. */
  const isCompany = () => queue.length >= crowd >> 1
  function company(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, COMPANY_MS)
    onCome = () => {
      if (!isCompany()) return
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

  /** Those of one session wait for each other. Never rejects. */
  async function askAlone(left: readonly Waiting<Item, Answer>[], failed: Failed | null): Promise<void> {
    const bySession = [...Map.groupBy(left, ({ item }) => item.sessionId).values()]
    const inTurn = async (ofSession: readonly Waiting<Item, Answer>[]) => {
      for (const { item, resolve } of ofSession) {
        const answer = alone(item, failed)
        resolve(answer)
        await answer.catch(() => {})
      }
    }
    await Promise.all(bySession.map(inTurn))
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      if (!isCompany()) await company()
      const batch = takeBatch()
      const isAlone = batch.length === 1
      crowd = Math.max(batch.length, crowd >> 1)
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
      onCome()
      if (writing) return
      writing = true
      if (performance.now() - wroteAt > LATELY_MS) crowd = 1
      // Where several came together before, those of this turn of the event loop go along.
      if (crowd === 1) void writeAll()
      else setImmediate(() => void writeAll())
    })
}
