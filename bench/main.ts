/** `npm run bench` runs all benches, `npm run bench -- tools` the named ones. What each measures stands in its file. */
const benches = new Map([
  ['tools', async () => (await import('./tools.ts')).benchTools()],
  ['cluster', async () => (await import('./cluster.ts')).benchCluster()],
])

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !benches.has(name))
if (unknown.length > 0) throw new Error(`No bench ${unknown.join(', ')}. There are: ${[...benches.keys()].join(', ')}.`)
for (const name of wanted.length > 0 ? wanted : benches.keys()) await benches.get(name)?.()
process.exit(0)
