/** A start that fails for the database's sake names DATABASE_URL, and says no password. */
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApp } from '../../src/compose/app.ts'
import { waitForDatabase } from '../../src/compose/database.ts'
import { startFault } from '../../src/compose/start/start-fault.ts'
import { openSecrets } from '../../src/persistence/records/access/secrets.ts'
import { readSettings } from '../../src/settings.ts'
import { SettingsError } from '../../src/settings-checks.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { verifies } from '../verifies.ts'

const settings = readSettings({ DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d', PORT: '8123' })
const failed = (code: string, message: string) => Object.assign(new Error(message), { code })
const words = (error: unknown) => (error instanceof Error ? error.message : String(error))

test.each([
  ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND db'],
  ['CONNECT_TIMEOUT', 'write CONNECT_TIMEOUT db:5432'],
  ['28P01', 'password authentication failed for user "u"'],
  ['3D000', 'database "d" does not exist'],
  ['25006', 'cannot execute CREATE TABLE in a read-only transaction'],
  ['42501', 'permission denied for schema public'],
])('%s', (code, message) => {
  const said = words(startFault(failed(code, `${message}.`), settings))
  expect(said).toMatch(/^DATABASE_URL: the database .*[^.]\. (?:Check|Name|Let) .*\.$/)
  expect(said).toContain(message)
})

test('a server without TLS is told at once, with sslmode', async () => {
  const none = failed('ECONNRESET', 'Client network socket disconnected before secure TLS connection was established')
  expect(words(startFault(none, settings))).toMatch(
    /^DATABASE_URL: the database offers no TLS, which sslmode demands\./,
  )
  const log = { warn: () => expect.unreachable('nobody waits for it') }
  await expect(waitForDatabase(() => Promise.reject(none), log)).rejects.toBe(none)
})

test('other faults keep their words', () => {
  expect(words(startFault(failed('EADDRINUSE', 'x'), settings))).toMatch(/^PORT: 8123 on 127.0.0.1 is in use/)
  expect(words(startFault(new Error('x'), settings))).toBe('x')
  expect(words(startFault(failed('ECONNREFUSED', 'x'), readSettings({})))).toBe('x') // the embedded one
})

test.each([
  ['PORT', { code: 'EACCES', syscall: 'listen' }],
  ['HOST', { code: 'EADDRNOTAVAIL', syscall: 'listen' }],
  ['HOST', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: settings.host }],
])('an address that cannot be listened on is a setting’s fault: %s, %o', (name, fields) => {
  const fault = startFault(Object.assign(new Error('x'), fields), settings)
  expect(fault).toBeInstanceOf(SettingsError)
  expect(words(fault)).toMatch(new RegExp(`^${name}: .+\\.$`))
})

test('a database that is not there stops the start', async () => {
  const own = await freshDatabase({ version: 18 })
  const url = new URL(own.url)
  url.pathname = '/not-there'
  const env = { DATABASE_URL: url.href, SECRET_KEY: 'x', PORT: '0', LOG_LEVEL: 'fatal' }
  try {
    await expect(startApp(readSettings(env))).rejects.toThrow(/^DATABASE_URL: .*not-there/)
  } finally {
    await own.drop()
  }
})

verifies('contract-1.secret-key', 'a key that is missing or another one is a setting’s fault', async () => {
  const own = await freshDatabase()
  const dataDir = await temporaryFolder()
  const nowhere = join(dataDir, 'link')
  await symlink(join(dataDir, 'gone', 'folder'), nowhere)
  const fault = async (env: Record<string, string>) =>
    await startApp(readSettings({ DATABASE_URL: own.url, PORT: '0', LOG_LEVEL: 'fatal', ...env })).then(
      () => null,
      (error: unknown) => [error instanceof SettingsError, words(error)],
    )
  try {
    const unkept = expect.stringMatching(/^SECRET_KEY is required: .* cannot keep a key/)
    expect(await fault({ DATA_DIR: nowhere })).toEqual([true, unkept])
    await openSecrets(own.sql, { keys: ['key'], dataDir, external: true })
    const missing = expect.stringMatching(/^SECRET_KEY is required: .* already holds data/)
    expect(await fault({ DATA_DIR: dataDir })).toEqual([true, missing])
    const another = expect.stringMatching(/^SECRET_KEY is not the key of this database/)
    expect(await fault({ DATA_DIR: dataDir, SECRET_KEY: 'other' })).toEqual([true, another])
  } finally {
    await own.drop()
    await rm(dataDir, { recursive: true })
  }
})

verifies('contract-25.database-surroundings', 'a database of another encoding than UTF-8 stops the start', async () => {
  const own = await freshDatabase()
  const url = new URL(own.url)
  url.pathname = `${url.pathname}_latin1`
  await own.sql.unsafe(
    `create database ${url.pathname.slice(1)} encoding 'LATIN1' locale_provider 'libc' locale 'C' template template0`,
  )
  const env = { DATABASE_URL: url.href, SECRET_KEY: 'x', PORT: '0', LOG_LEVEL: 'fatal' }
  try {
    await expect(startApp(readSettings(env))).rejects.toThrow(/^DATABASE_URL: .* LATIN1, not UTF8\. Make one with: /)
  } finally {
    await own.sql.unsafe(`drop database ${url.pathname.slice(1)} with (force)`)
    await own.drop()
  }
})
