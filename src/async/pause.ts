/** Resolves after this many milliseconds, or at once on abort. Leaves neither timer nor listener behind. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish, { once: true })
  })
}

/** Resolves when `work` is over, however it ends, but after `ms` at most. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  work.then(end, end)
  await pause(ms, over.signal)
}
