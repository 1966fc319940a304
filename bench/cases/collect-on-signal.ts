/** Preloaded into a server: SIGUSR2 collects garbage and writes the live and resident bytes to stderr. */
process.on('SIGUSR2', () => {
  for (let n = 0; n < 3; n++) globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.stderr.write(`alive ${heapUsed + external} resident ${rss}\n`)
})
