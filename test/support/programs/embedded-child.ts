/**
 * Starts an embedded database, prints its URL, and stops the database when its standard input ends. Like a draining
 * service, it ignores SIGINT and SIGTERM. Usage: embedded-child.ts DATA_DIR
 */
import { startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'

process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

const log = { debug() {}, info: console.error, warn: console.error, error: console.error }
try {
  const embedded = await startEmbedded({ dataDir: process.argv[2] ?? '', log })
  console.log(embedded.url)
  process.stdin.resume().on('end', async () => {
    await embedded.stop()
    process.exit(0)
  })
} catch (error) {
  console.log(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
