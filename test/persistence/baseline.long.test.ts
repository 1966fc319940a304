/** A database of the last commit before the baseline (025.do.tables.sql) opens in this version, with all its data. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { applySchema } from '../../src/persistence/postgres/schema/migrate.ts'
import { openSecrets } from '../../src/persistence/records/access/secrets.ts'
import { readReply } from '../../src/persistence/replies/reading/read-reply.ts'
import { migrate, schema } from '../../src/persistence/schema.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type FreshDatabase, freshDatabase, once } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { knownTo, rowsOf, shapeOf, withNullsOf } from './all-rows.ts'
import { listMessages } from './list-messages.ts'
import { textAt, versions } from './scene.ts'

const secretKey = 'the key of the fixture'
const fixture = (name: string) => readFile(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')

interface Reading {
  /** Absent for the reply that runs. */
  session?: object
  /** The path, and all branches. */
  messages: { id: string; content: string }[]
  all?: object[]
  playground?: object[]
  /** The whole stream of a session whose newest reply has ended. */
  stream?: string
  /** What the reader of the running reply had seen. */
  seen?: string
}

/** What commit d7428bd answered. */
interface Readings {
  agentId: string
  openaiId: string
  /** Sessions: with a reply that streams, with branches, with a call that waits for approval, with the caller's, with a key. */
  left: string
  tree: string
  asks: string
  callers: string
  keyed: string
  sessions: Record<string, Reading>
  exported: object
}

/** Functions that this version does not call. They stay, since an older instance beside it may. */
const forOlder = /^decide_calls\b/

const idOf = (frame: string): number => Number(/^id: (\d+)$/m.exec(frame)?.[1])

describe.each(versions)('on PostgreSQL %i', (version) => {
  let readings: Readings
  let old: FreshDatabase
  beforeAll(async () => {
    readings = JSON.parse(await fixture('schema-24.readings.json'))
    old = await restored()
  })
  afterAll(() => old.drop())

  async function restored(): Promise<FreshDatabase> {
    const database = await freshDatabase({ version, empty: true })
    await once(database.url, await fixture('schema-24.sql'))
    return database
  }

  verifies('contract-1.migrations', 'every row is kept, and the schema becomes that of a new database', async () => {
    const before = await rowsOf(old.sql)
    expect(Object.values(before).filter((rows) => Array.isArray(rows) && rows.length > 0)).toHaveLength(26)
    const fresh = await freshDatabase({ version, empty: true })
    const [, ...functions] = await migrate(fresh.sql)
    const [first, ...changed] = await migrate(old.sql)
    expect(first).toBe('25 tables')
    expect(functions).toEqual(expect.arrayContaining(changed)) // the others have not changed since
    const after = await rowsOf(old.sql)
    const changedRows: Record<string, unknown> = {
      messages: withNullsOf(before.messages, after.messages),
      sessions: withNullsOf(before.sessions, after.sessions),
    }
    expect(after.waits).toEqual(
      Array.from(Object(before.waits), (row) => ({
        ...Object(row),
        asked: null,
        expires_at: null,
        carried: expect.stringMatching(/^\{"version":1,/),
      })),
    )
    changedRows.waits = before.waits
    expect(knownTo(before, { ...after, ...changedRows })).toEqual(before)
    const shape = await shapeOf(old.sql)
    expect(shape.filter(({ name }) => !forOlder.test(name))).toEqual([...(await shapeOf(fresh.sql))])
    await fresh.drop()
    expect(await migrate(old.sql)).toEqual([])
  })

  verifies('contract-16.session-status', 'sessions without a status get that of their newest reply', async () => {
    const rows = await old.sql<{ title: string | null; status: string; error_code: string | null }[]>`
      select title, status, error_code from sessions where num < 7 order by num`
    expect(rows.map(({ title, status, error_code }) => [title, status, error_code])).toEqual([
      ['Hello, wörld 😀', 'complete', null],
      ['/fail', 'error', 'provider_error'],
      ['/slow 40', 'cancelled', null],
      ['Given', 'idle', null],
      ['What time is it?', 'error', 'instance_lost'],
    ])
  })

  verifies('contract-1.secret-key', 'its secrets can be decrypted', async () => {
    const secrets = await openSecrets(old.sql, { keys: [secretKey], dataDir: '/', external: true })
    expect(secrets.unreadable).toEqual([])
    const [provider] = await old.sql<{ key: string }[]>`
      select api_key as key from providers where id = ${readings.openaiId}`
    expect(secrets.open(provider?.key ?? '', `provider:${readings.openaiId}`)).toBe('sk-fixture-1234567890')
  })

  verifies('contract-4.resume', 'the streaming reply can be resumed from every id that its readers saw', async () => {
    const messages = (await listMessages(old.sql, readings.agentId, readings.left)) ?? []
    expect(messages[1]).toMatchObject({ status: 'streaming' })
    const texts = (messages[1]?.content ?? '').match(/\d+ /g) ?? []
    expect(texts.length).toBeGreaterThan(7)
    for (let after = 0; after < texts.length; after += 1) {
      const events = (await readReply(old.sql, messages[1]?.id ?? '', after))?.events ?? []
      expect(events).toEqual(texts.map((text, index) => textAt(index + 2, text)).filter(({ seq }) => seq > after))
    }
  })

  describe('served', () => {
    let database: FreshDatabase // it changes
    let app: TestApp
    beforeAll(async () => {
      database = await restored()
      // Keys are kept for a day, and this one was sent when the fixture was made.
      await database.sql`update idempotency_keys set created_at = clock_timestamp()`
      const settings = { SECRET_KEY: secretKey, TRACE_RETENTION_DAYS: '3650', OWNER_LEASE_MS: '3000' }
      app = await startTestApp({ database, settings })
    })
    afterAll(async () => {
      await app.stop()
      await database.drop()
    })

    const get = async (path: string) => Object(await (await fetch(app.url + path)).json())
    const deployed = (session: string) => `/api/v1/agents/${readings.agentId}/deploy/sessions/${session}`
    const inPlayground = (session: string) => `/api/v1/agents/${readings.agentId}/playground/sessions/${session}`
    const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const response = await fetch(app.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: Object(await response.json()) }
    }
    const said = (content: string) => ({ messages: [{ role: 'user', content }] })

    verifies('contract-1.migrations', 'this version answers what that one answered', async () => {
      expect(await get('/api/v1/export')).toMatchObject(readings.exported) // there are more fields
      for (const [id, { session, messages, all, playground, stream }] of Object.entries(readings.sessions)) {
        if (session === undefined || stream === undefined) continue
        expect(await get(deployed(id))).toMatchObject(session)
        expect((await get(`${deployed(id)}/messages`)).messages).toMatchObject(messages)
        expect((await get(`${deployed(id)}/messages?branches=all`)).messages).toMatchObject(all ?? [])
        expect((await get(`${inPlayground(id)}/messages`)).messages).toMatchObject(playground ?? [])
        const path = `${app.url}${deployed(id)}/chat/completions/stream`
        expect(await (await fetch(path)).text()).toBe(stream)
        const frames = stream.split('\n\n').filter(Boolean)
        for (const after of frames.slice(0, -2).map(idOf)) {
          const rest = await (await fetch(path, { headers: { 'last-event-id': `${after}` } })).text()
          const behind = frames.filter((frame) => idOf(frame) > after)
          expect(rest).toBe(behind.map((frame) => `${frame}\n\n`).join(''))
        }
      }
    })

    verifies('contract-4.owner-lost', 'what streamed is settled', async () => {
      const messagesLeft = async () => (await get(`${deployed(readings.left)}/messages`)).messages
      const reading = readings.sessions[readings.left]
      const [question, reply] = reading?.messages ?? []
      await expect
        .poll(messagesLeft)
        .toMatchObject([question, { id: reply?.id, status: 'error', finish_reason: 'error' }])
      const resumed = await (await fetch(`${app.url}${deployed(readings.left)}/chat/completions/stream`)).text()
      expect(resumed.startsWith(reading?.seen ?? 'nothing')).toBe(true)
      expect(resumed).toContain('instance_lost')
    })

    verifies('contract-14.tree', 'branches go on, also where no lines were stored', async () => {
      const reading = readings.sessions[readings.tree]
      const branch = [...(reading?.all ?? [])].map(Object).find(({ content }) => content === 'two anew')
      const path = `${deployed(readings.tree)}/chat/completions`
      expect((await post(path, { ...said('/echo once more'), parent_id: branch.id })).status).toBe(200)
      const messages: { content: string }[] = (await get(`${deployed(readings.tree)}/messages`)).messages
      expect(messages.map(({ content }) => content)).toEqual([
        '/echo one',
        'one',
        '/echo two anew',
        'two anew',
        '/echo once more',
        'once more',
      ])
    })

    verifies('contract-15.waiting', 'calls that waited are decided, and a key leads to its reply', async () => {
      const { asks, callers, keyed, sessions } = readings
      const [call] = Object(sessions[asks]?.session).pending
      const decisions = [{ call_id: call.call_id, decision: 'approve' }]
      const approved = await post(`${deployed(asks)}/actions`, { decisions })
      expect([approved.status, approved.body.choices?.[0].message.content]).toEqual([
        200,
        expect.stringMatching(/Berlin/),
      ])
      const [asked] = Object(sessions[callers]?.session).pending
      const output = [{ call_id: asked.call_id, decision: 'respond', output: 'found it' }]
      const answered = await post(`${deployed(callers)}/actions`, { decisions: output })
      expect([answered.status, answered.body.choices?.[0].message.content]).toEqual([
        200,
        expect.stringMatching(/found it/),
      ])
      const again = await post(`${deployed(keyed)}/chat/completions`, said('/echo with a key'), {
        'idempotency-key': 'one',
      })
      expect([again.status, again.body.choices?.[0].message.content]).toEqual([200, 'with a key'])
      expect((await get(`${deployed(keyed)}/messages`)).messages).toHaveLength(2)
    })

    verifies('contract-4.resume', 'frames of the next reply go on in the ids', async () => {
      const [talk = ''] = Object.keys(readings.sessions)
      const last = Math.max(...(readings.sessions[talk]?.stream ?? '').split('\n\n').filter(Boolean).map(idOf))
      const body = { ...said('/echo and on'), stream: true }
      const next = await openSse(`${app.url}${deployed(talk)}/chat/completions`, body)
      const { frames } = await next.rest()
      expect(frames[0]?.id).toBe(`${last + 1}`)
      expect(frames.at(-1)?.data).toBe('[DONE]')
    })
  })

  verifies(
    'contract-1.migrations',
    'an older or changed one is refused with one line that says what to do',
    async () => {
      const database = await restored()
      const { sql } = database
      const line = /^The database was written by a version before 0\.1 .*: start commit d7428bd on it once/
      await sql`update schema_migrations set md5 = 'other' where version = 24`
      await expect(migrate(sql)).rejects.toThrow(line)
      await sql`delete from schema_migrations where version = 24`
      await expect(migrate(sql)).rejects.toThrow(line)
      await sql`delete from schema_migrations where version > 11`
      await expect(migrate(sql)).rejects.toThrow(line)
      await database.drop()
    },
  )

  verifies('contract-1.migrations', 'a failure leaves it unchanged', async () => {
    const database = await restored()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'broken.sql'), '-- revision 1\nselect no_such_column')
    const broken = { ...schema, definitions: [...schema.definitions, folder] }
    const before = await shapeOf(database.sql)
    await expect(applySchema(database.sql, broken)).rejects.toThrow('no_such_column')
    await rm(folder, { recursive: true })
    expect(await shapeOf(database.sql)).toEqual(before)
    await database.drop()
  })
})
