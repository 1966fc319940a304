/**
 * Starts an embedded database, says its URL, and lives until its standard input ends; then it stops the database.
 * Like the service while it drains, it does not die of SIGINT and SIGTERM. Usage: embedded-child.ts DATA_DIR
 */
import { startEmbedded } from '../../src/persistence/postgres/embedded.ts'

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
