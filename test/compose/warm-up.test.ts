/** What an instance loads at its start, so that no turn of a running reply has to (contract section 18). */
import { expect } from 'vitest'
import { warmUp } from '../../src/compose/warm-up.ts'
import { freshDatabase } from '../support/database.ts'
import { verifies } from '../verifies.ts'

verifies('contract-18.loaded-first', 'MCP support is loaded where there is a server, and nowhere else', async () => {
  const { sql, drop } = await freshDatabase()
  await using stack = new AsyncDisposableStack()
  stack.defer(drop)
  let loaded = 0
  const warm = () =>
    warmUp({
      sql,
      model: { load: async () => {} },
      mcp: { load: async () => (loaded += 1) },
      log: { debug: (details) => expect(details).toBeNull() },
    })
  await warm()
  expect(loaded).toBe(0)
  await sql`insert into mcp_servers (name, transport, url) values ('S', 'streamable_http', 'http://127.0.0.1:1/')`
  await warm()
  expect(loaded).toBe(1)
})
