/**
 * Gives a function that runs the work, or has it run once more where it runs already: what came meanwhile may have been
 * overlooked. Resolves when it runs no more. Rejects as the work does, which then does not run once more.
 */
export function onceMore(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let again = false
  async function run(): Promise<void> {
    try {
      do {
        again = false
        await work()
      } while (again)
    } finally {
      running = null
    }
  }
  return () => {
    again = running !== null
    running ??= run()
    return running
  }
}
