/** A database of the last version before the first release opens in this version, with all its data. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import type { Sql } from '../../src/persistence/postgres/database.ts'
import { applySchema } from '../../src/persistence/postgres/schema/migrate.ts'
import { openSecrets } from '../../src/persistence/records/access/secrets.ts'
import { readReply } from '../../src/persistence/replies/reading/read-reply.ts'
import { listMessages } from '../../src/persistence/replies/sessions/sessions.ts'
import { migrate, schema } from '../../src/persistence/schema.ts'
import { startTestApp } from '../support/app.ts'
import { type FreshDatabase, freshDatabase, once } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { storedFrames } from '../support/frames.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { textAt, versions } from './scene.ts'

const secretKey = 'the key of the fixture'
const fixture = (name: string) => readFile(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')

interface Reading {
  /** Readings of both APIs. */
  messages: object[]
  playground: object[]
  /** The whole stream of a session whose newest reply has ended. */
  stream?: string
  /** What the reader of the running one had seen. */
  seen?: string
}

interface Readings {
  agentId: string
  leftAgentId: string
  openaiId: string
  /** The session whose reply streams. */
  left: string
  sessions: Record<string, Reading>
  usage: object
  exported: object
}

const idOf = (frame: string): number => Number(/^id: (\d+)$/m.exec(frame)?.[1])

/** All rows of all tables except the migration's own. */
async function rowsOf(sql: Sql): Promise<Record<string, unknown>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables
     where schemaname = 'public' and tablename not in ('schema_migrations', 'compatibility', 'definitions') order by 1`
  const rows = tables.map(async ({ name }) => [
    name,
    (await sql`select to_jsonb(t) as row from ${sql(name)} t order by to_jsonb(t)::text`).map(({ row }) => row),
  ])
  return Object.fromEntries(await Promise.all(rows))
}

/** Columns, constraints, indexes, triggers and functions, in any order. */
const shapeOf = (sql: Sql, hasDefinitions = true) => sql`
  select 'column' as kind, attrelid::regclass::text || '.' || attname as name,
         format_type(atttypid, atttypmod) || ' ' || attnotnull || ' ' || attidentity::text || ' '
         || coalesce((select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum), '') as text
    from pg_attribute where attrelid::regclass::text in (select tablename from pg_tables where schemaname = 'public')
     and attnum > 0 and not attisdropped
  union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
   where connamespace = 'public'::regnamespace and contype <> 'n'
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all select 'function', oid::regprocedure::text, pg_get_functiondef(oid) from pg_proc
   where pronamespace = 'public'::regnamespace
  union all select 'storage', oid::regclass::text, array_to_string(reloptions, ' ') from pg_class
   where relnamespace = 'public'::regnamespace and reloptions is not null
  union all select 'bookkeeping', 'compatibility', oldest::text from compatibility
  union all select 'bookkeeping', 'migration', version || ' ' || name || ' ' || md5 from schema_migrations where version > 0
  ${hasDefinitions ? sql`union all select 'bookkeeping', name, revision || ' ' || checksum from definitions` : sql``}
   order by 1, 2, 3`

describe.each(versions)('on PostgreSQL %i', (version) => {
  let readings: Readings
  let old: FreshDatabase
  beforeAll(async () => {
    readings = JSON.parse(await fixture('schema-10.readings.json'))
    old = await restored()
  })
  afterAll(() => old.drop())

  async function restored(): Promise<FreshDatabase> {
    const database = await freshDatabase({ version, empty: true })
    await once(database.url, await fixture('schema-10.sql'))
    return database
  }

  verifies('contract-1.migrations', 'every row is kept, and the schema becomes that of a new database', async () => {
    const before = await rowsOf(old.sql)
    const frames = await old.sql`select session_num, seq, part, event from frames order by session_num, seq, part`
    expect(Object.values(before).filter((rows) => Array.isArray(rows) && rows.length > 0)).toHaveLength(20)
    const fresh = await freshDatabase({ version, empty: true })
    expect(await migrate(old.sql)).toEqual(await migrate(fresh.sql))
    const { frames: _, ...kept } = before
    expect(await rowsOf(old.sql)).toMatchObject(kept) // columns were added
    expect((await storedFrames(old.sql)).map(({ text, ...frame }) => ({ ...frame, event: text }))).toEqual(frames)
    expect(await shapeOf(old.sql)).toEqual(await shapeOf(fresh.sql))
    await fresh.drop()
    expect(await migrate(old.sql)).toEqual([])
  })

  verifies('contract-1.secret-key', 'its secrets can be decrypted', async () => {
    const secrets = await openSecrets(old.sql, { keys: [secretKey], dataDir: '/', external: true })
    expect(secrets.unreadable).toEqual([])
    const [provider] = await old.sql<{ key: string }[]>`
      select api_key as key from providers where id = ${readings.openaiId}`
    expect(secrets.open(provider?.key ?? '', `provider:${readings.openaiId}`)).toBe('sk-fixture-1234567890')
  })

  verifies('contract-4.resume', 'the streaming reply can be resumed from every id that its readers saw', async () => {
    const messages = (await listMessages(old.sql, readings.leftAgentId, readings.left)) ?? []
    const reply = messages[1]
    expect(reply).toMatchObject({
      status: 'streaming',
      content: 'Let me löok 😀 wörd 0 wörd 1 wörd 2 wörd 3 wörd 4 ',
    })
    expect(reply?.toolEvents.map(({ event, offset }) => [event.type, offset])).toEqual([
      ['tool_call', 15],
      ['tool_result', 15],
    ])
    const texts = ['Let me ', 'löok 😀 ', 'wörd 0 ', 'wörd 1 ', 'wörd 2 ', 'wörd 3 ', 'wörd 4 ']
    for (let after = 0; after < 10; after += 1) {
      const events = (await readReply(old.sql, reply?.id ?? '', after))?.events ?? []
      expect(events.filter(({ event }) => event.type === 'text')).toEqual(
        texts.map((text, index) => textAt(index + 2, text)).filter(({ seq }) => seq > after),
      )
      expect(events.filter(({ part }) => part > 0)).toHaveLength(after > 3 ? 0 : 2)
    }
  })

  verifies(
    ['contract-1.migrations', 'contract-4.owner-lost'],
    'this version serves it unchanged, settles what streamed, and continues',
    async () => {
      const settings = { SECRET_KEY: secretKey, TRACE_RETENTION_DAYS: '3650', OWNER_LEASE_MS: '3000' }
      const database = await restored() // it changes
      onTestFinished(() => database.drop())
      await using app = await startTestApp({ database, settings })
      const get = async (path: string) => Object(await (await fetch(app.url + path)).json())
      const { agentId, leftAgentId, left, sessions } = readings
      const deployed = (agent: string, session: string) => `/api/v1/agents/${agent}/deploy/sessions/${session}`
      const inPlayground = (agent: string, session: string) => `/api/v1/agents/${agent}/playground/sessions/${session}`
      expect(await get('/api/v1/export')).toMatchObject(readings.exported) // there are more fields

      for (const [id, { messages, playground, stream }] of Object.entries(sessions)) {
        if (stream === undefined) continue
        expect((await get(`${deployed(agentId, id)}/messages`)).messages).toMatchObject(messages)
        expect((await get(`${inPlayground(agentId, id)}/messages`)).messages).toMatchObject(playground)
        const path = `${app.url}${deployed(agentId, id)}/chat/completions/stream`
        expect(await (await fetch(path)).text()).toBe(stream)
        const frames = stream.split('\n\n').filter(Boolean)
        for (const after of frames.slice(0, -2).map(idOf)) {
          const rest = await (await fetch(path, { headers: { 'last-event-id': `${after}` } })).text()
          expect(rest).toBe(
            frames
              .filter((frame) => idOf(frame) > after)
              .map((frame) => `${frame}\n\n`)
              .join(''),
          )
        }
      }

      const messagesLeft = async () => (await get(`${deployed(leftAgentId, left)}/messages`)).messages
      const [question, reply] = sessions[left]?.messages ?? []
      await expect.poll(messagesLeft).toMatchObject([question, { ...reply, status: 'error', finish_reason: 'error' }])
      const resumed = await (await fetch(`${app.url}${deployed(leftAgentId, left)}/chat/completions/stream`)).text()
      expect(resumed.startsWith(sessions[left]?.seen ?? 'nothing')).toBe(true)
      expect(resumed).toContain('instance_lost')

      const [talk = ''] = Object.keys(sessions)
      const last = Math.max(...(sessions[talk]?.stream ?? '').split('\n\n').filter(Boolean).map(idOf))
      const next = await openSse(`${app.url}${deployed(agentId, talk)}/chat/completions`, {
        messages: [{ role: 'user', content: '/echo and on' }],
        stream: true,
      })
      const { frames } = await next.rest()
      expect(frames[0]?.id).toBe(`${last + 1}`)
      expect(frames.at(-1)?.data).toBe('[DONE]')
    },
  )

  verifies(
    'contract-1.migrations',
    'an older or changed one is refused with one line that says what to do',
    async () => {
      const database = await restored()
      const { sql } = database
      const line = /^The database was written by a version before 0\.1 .*: start commit 5b5034f on it once/
      await sql`update schema_migrations set md5 = 'other' where version = 10`
      await expect(migrate(sql)).rejects.toThrow(line)
      await sql`delete from schema_migrations where version = 10`
      await expect(migrate(sql)).rejects.toThrow(line)
      expect(await functionNames(sql)).toContain('lose_reply')
      await database.drop()
    },
  )

  verifies('contract-1.migrations', 'a failed adoption leaves it unchanged', async () => {
    const database = await restored()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'broken.sql'), '-- revision 1\nselect no_such_column')
    const broken = { ...schema, definitions: [...schema.definitions, folder] }
    const before = await shapeOf(database.sql, false)
    await expect(applySchema(database.sql, broken)).rejects.toThrow('no_such_column')
    await rm(folder, { recursive: true })
    expect(await shapeOf(database.sql, false)).toEqual(before)
    await database.drop()
  })
})

async function functionNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace order by proname collate "C"`
  return rows.map(({ name }) => name)
}
