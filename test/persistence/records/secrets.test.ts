import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSecrets } from '../../../src/persistence/records/access/secrets.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { verifies } from '../../verifies.ts'

let database: FreshDatabase
let dataDir: string

beforeEach(async () => {
  database = await freshDatabase()
  dataDir = await temporaryFolder()
})
afterEach(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const start = (keys: string[] | null, external = true) => openSecrets(database.sql, { keys, dataDir, external })

async function addProvider(apiKey: string, keys: string[]): Promise<string> {
  const id = crypto.randomUUID()
  const sealed = (await start(keys)).seal(apiKey, `provider:${id}`)
  await database.sql`insert into providers (id, name, provider_type, api_key) values (${id}, ${id}, 'openai', ${sealed})`
  return id
}

async function storedKey(id: string): Promise<string> {
  const [row] = await database.sql<{ key: string }[]>`select api_key as key from providers where id = ${id}`
  return row?.key ?? ''
}

test('what was sealed opens with the same context only, and any change to it is noticed', async () => {
  const secrets = await start(['key'])
  const sealed = secrets.seal('sk-Ω', 'provider:1')
  expect(sealed).not.toContain('sk-')
  expect(secrets.open(sealed, 'provider:1')).toBe('sk-Ω')
  expect(() => secrets.open(sealed, 'provider:2')).toThrow()
  const parts = sealed.split('.')
  const body = Buffer.from(parts[3] ?? '', 'base64url')
  for (let index = 0; index < body.length; index += 1) {
    const changed = Buffer.from(body)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => secrets.open([...parts.slice(0, 3), changed.toString('base64url')].join('.'), 'provider:1')).toThrow()
  }
  // A tag cut to four bytes would be guessed in time.
  expect(() =>
    secrets.open([...parts.slice(0, 3), body.subarray(-4).toString('base64url')].join('.'), 'provider:1'),
  ).toThrow()
})

verifies('contract-1.secret-key', 'without SECRET_KEY a key is generated once, mode 600, and found again', async () => {
  const sealed = (await start(null, false)).seal('plain', 'x')
  const path = join(dataDir, 'secret.key')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const key = await readFile(path, 'utf8')
  expect(key.trim().length).toBeGreaterThanOrEqual(43)
  expect((await start(null, false)).open(sealed, 'x')).toBe('plain')
  expect(await readFile(path, 'utf8')).toBe(key)
})

verifies(
  'contract-1.secret-key',
  'SECRET_KEY is required for a database with data when no secret.key exists',
  async () => {
    await start(['key'])
    await expect(start(null)).rejects.toThrow(/^SECRET_KEY is required: DATABASE_URL/)
    await expect(start(null, false)).rejects.toThrow(/^SECRET_KEY is required: DATA_DIR/)
    await writeFile(join(dataDir, 'secret.key'), 'key\n')
    expect((await start(null)).unreadable).toEqual([])
  },
)

verifies(
  'contract-1.secret-key',
  'a start whose keys do not open the check value stops, and changes nothing',
  async () => {
    const id = await addProvider('sk-1', ['key'])
    const before = await storedKey(id)
    await expect(start(['other'])).rejects.toThrow(/^SECRET_KEY is not the key of this database/)
    await writeFile(join(dataDir, 'secret.key'), 'other\n')
    await expect(start(null)).rejects.toThrow(/secret\.key\) is not the key of this database/)
    expect(await storedKey(id)).toBe(before)
  },
)

verifies('contract-1.secret-key', 'where no key can be kept, SECRET_KEY is asked for', async () => {
  const nowhere = join(dataDir, 'link')
  await symlink(join(dataDir, 'gone', 'folder'), nowhere)
  const begun = openSecrets(database.sql, { keys: null, dataDir: nowhere, external: true })
  await expect(begun).rejects.toThrow(/^SECRET_KEY is required: it is not set, and DATA_DIR .* cannot keep a key/)
})

test('an empty secret.key is never taken for a key', async () => {
  await writeFile(join(dataDir, 'secret.key'), '\n')
  await expect(start(null)).rejects.toThrow('is empty')
})

verifies('contract-1.secret-key', 'instances that start at once agree on one check value', async () => {
  const starts = await Promise.allSettled([start(null), start(['a']), start(['b']), start(['a'])])
  const winners = starts.filter((one) => one.status === 'fulfilled').map((one) => one.value)
  const sealed = winners.map((one) => one.seal('same', 'x'))
  for (const one of winners) for (const text of sealed) expect(one.open(text, 'x')).toBe('same')
  expect(starts.some((one) => one.status === 'rejected')).toBe(true)
})

verifies(
  'contract-1.secret-key',
  'old,new, then new,old, then new rotates while instances with the step before still run',
  async () => {
    const id = await addProvider('sk-1', ['old'])
    const context = `provider:${id}`
    const first = await start(['old', 'new'])
    expect(first.open(await storedKey(id), context)).toBe('sk-1')

    const second = await start(['new', 'old'])
    expect(second.open(await storedKey(id), context)).toBe('sk-1')
    expect(first.open(await storedKey(id), context)).toBe('sk-1') // it still runs, and reads what the second sealed
    await database.sql`update providers set api_key = ${first.seal('sk-2', context)} where id = ${id}`
    const last = await start(['new', 'old']) // the last instance of the round finds what the first wrote meanwhile
    expect(last.open(await storedKey(id), context)).toBe('sk-2')

    const done = await start(['new'])
    expect(done.open(await storedKey(id), context)).toBe('sk-2')
    expect(done.unreadable).toEqual([])
    await expect(start(['old'])).rejects.toThrow('is not the key')
  },
)

test('a secret that no key opens is named and left as it is; the others still rotate', async () => {
  const good = await addProvider('sk-1', ['key'])
  const bad = await addProvider('sk-2', ['key'])
  await database.sql`update providers set api_key = 'v1.0123456789abcdef.AAAA.AAAA' where id = ${bad}`
  const secrets = await start(['next', 'key'])
  expect(secrets.unreadable).toEqual([`provider:${bad}`])
  expect(await storedKey(bad)).toBe('v1.0123456789abcdef.AAAA.AAAA')
  expect((await start(['next'])).open(await storedKey(good), `provider:${good}`)).toBe('sk-1')
})
