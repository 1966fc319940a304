/** The rotation of encrypted sign-ins with the key (contract sections 1 and 27). */
import { afterAll, beforeAll, expect } from 'vitest'
import { createGrants } from '../../../src/features/connections/index.ts'
import { storeGrant } from '../../../src/features/connections/store/connections.ts'
import { openSecrets, requestStateContext, signInPageContext } from '../../../src/persistence/records/access/secrets.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

let db: FreshDatabase
beforeAll(async () => {
  db = await freshDatabase()
})
afterAll(() => db.drop())

const start = (...keys: string[]) => openSecrets(db.sql, { keys, dataDir: '/nowhere', external: true })

verifies(
  ['contract-27.tokens-hidden', 'contract-27.state'],
  'old,new, then new,old, then new: grants, states and pages open at each step',
  async () => {
    const { sql } = db
    const old = await start('old')
    const [provider] = await sql`insert into providers (name, provider_type) values ('p', 'demo') returning id`
    const [agent] = await sql`
      insert into agents (name, provider_id, model) values ('a', ${provider?.id}, 'm') returning id`
    const [server] = await sql`
      insert into mcp_servers (name, transport, url, auth) values ('s', 'streamable_http', 'https://a.com/', 'user') returning id`
    const [session] = await sql`insert into sessions (agent_id, end_user) values (${agent?.id}, 'ann') returning id`
    const [reply] = await sql`
      insert into messages (id, session_id, role, content, status, position)
      values (gen_random_uuid(), ${session?.id}, 'assistant', '', 'complete', 0) returning id`
    const issuer = { server: 'https://as', metadata: null, resource: 'https://a.com/', client: { client_id: 'c' } }
    const granted = { issuer, token: 'at', refreshToken: 'rt', scope: null, expiresIn: null }
    const of = { agentId: agent?.id, user: 'ann', serverId: server?.id }
    await sql.begin((tx) => storeGrant(tx, old, of, granted))
    await sql`
      insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind, asked_state, asked_of)
      values (${reply?.id}, 1, ${session?.id}, 'c', 'n', '{}', 'input', ${old.seal('state', requestStateContext)}, 'o')`
    await sql`
      insert into waiting_questions (reply_id, place, n, round, server, key, message, url, sign_in)
      values (${reply?.id}, 1, 1, 1, 's', 'sign_in', 'm', ${`https://x/${old.seal('page', signInPageContext)}`}, true)`
    for (const keys of [['old', 'new'], ['new', 'old'], ['new']]) {
      const secrets = await start(...keys)
      expect(secrets.unreadable).toEqual([])
      const grants = createGrants({ sql, secrets, fetchFor: () => fetch, publicUrl: () => null })
      const values = { sessionId: session?.id, user: 'ann', metadata: {}, at: '' }
      expect(await grants.find(server?.id, values)).toMatchObject({ token: 'at' })
      const [row] = await sql`
        select asked_state as state, url from waiting_calls c join waiting_questions q on q.reply_id = c.reply_id`
      expect(secrets.open(row?.state, requestStateContext)).toBe('state')
      expect(secrets.open(row?.url.replace('https://x/', ''), signInPageContext)).toBe('page')
    }
  },
)
