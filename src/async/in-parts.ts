/** Loading of large modules: loaded as a whole one holds all replies for up to 0.1 s. */
import { setImmediate } from 'node:timers/promises'

/**
 * Returns a function that loads the parts, lowest first, each in a turn of the event loop of its own. It rejects when
 * one cannot be loaded, in later calls too.
 */
export function inParts(parts: readonly (() => Promise<unknown>)[]): () => Promise<void> {
  let loading: Promise<void> | null = null
  return () => {
    loading ??= loadEach(parts)
    return loading
  }
}

async function loadEach(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const part of parts) {
    await part()
    await setImmediate()
  }
}
