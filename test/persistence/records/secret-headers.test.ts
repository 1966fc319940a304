/** Secret headers at rest: they rotate with the key as providers' keys do (contract sections 1 and 2). */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSecrets } from '../../../src/persistence/records/access/secrets.ts'
import { createHttpTool, storedHttpTools } from '../../../src/persistence/records/tools/http-tools.ts'
import { createMcpServer, storedMcpServers } from '../../../src/persistence/records/tools/mcp-servers.ts'
import { openHeaders, sealHeaders } from '../../../src/persistence/records/tools/secret-headers.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

let db: FreshDatabase
beforeAll(async () => {
  db = await freshDatabase()
})
afterAll(() => db.drop())

const start = (...keys: string[]) => openSecrets(db.sql, { keys, dataDir: '/nowhere', external: true })

verifies(
  ['contract-1.secret-key', 'contract-2.secret-headers'],
  'old,new, then new,old, then new: the headers of tools and servers open at each step; unreadable ones are named',
  async () => {
    const [id, broken] = [crypto.randomUUID(), crypto.randomUUID()]
    const headers = { Authorization: 'Bearer s3cret', Accept: '*/*' }
    const old = await start('old')
    const fields = { name: 'N', description: 'D', url: 'https://a.com/', body: null, inputSchema: null }
    const sealed = sealHeaders(old, `http-tool:${id}`, headers)
    await createHttpTool(db.sql, { id, method: 'GET', ...fields, ...sealed })
    const sealedForServer = sealHeaders(old, `mcp-server:${id}`, headers)
    const noSignIn = { auth: 'none', oauthClientId: null, sealedClientSecret: null } as const
    const server = { name: 'N', transport: 'sse', url: 'https://a.com/', sendUser: false, ...noSignIn } as const
    await createMcpServer(db.sql, { id, ...server, ...sealedForServer })
    const lost = { headers, secretHeaders: 'v1.0123456789abcdef.AAAA.AAAA' }
    await createMcpServer(db.sql, { id: broken, ...server, ...lost })

    for (const keys of [['old', 'new'], ['new', 'old'], ['new']]) {
      const secrets = await start(...keys)
      expect(secrets.unreadable).toEqual([`mcp-server:${broken}`])
      const [tool] = await storedHttpTools(db.sql, [id])
      const [server] = await storedMcpServers(db.sql, [id])
      if (!tool || !server) throw new Error('gone')
      expect(openHeaders(secrets, `http-tool:${id}`, tool)).toEqual(headers)
      expect(openHeaders(secrets, `mcp-server:${id}`, server)).toEqual(headers)
      // Sealed for one record, of no use in another.
      expect(() => openHeaders(secrets, `mcp-server:${id}`, tool)).toThrow()
    }
  },
)
