/** TLS to PostgreSQL, as docs/operating/databases.md describes it: a real client's handshake, ended before a real server. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))
let folder: string
let database: FreshDatabase
let server: Server
let port: number

beforeAll(async () => {
  folder = await temporaryFolder()
  const names = ['-subj', '/CN=db', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.2']
  const out = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...names, ...out], {
    stdio: 'ignore',
  })
  database = await freshDatabase({ empty: true })
  const secureContext = createSecureContext({
    key: readFileSync(join(folder, 'key')),
    cert: readFileSync(join(folder, 'cert')),
  })
  const socketFile = `${decodeURIComponent(new URL(database.url).hostname)}/.s.PGSQL.5432`
  server = createServer((raw) => {
    raw.on('error', () => {})
    // SSLRequest: the client asks for TLS before it says anything else.
    raw.once('data', () => {
      raw.write('S')
      const plain = new TLSSocket(raw, { isServer: true, secureContext })
      const behind = connect(socketFile)
      plain.pipe(behind).pipe(plain)
      plain.on('error', () => behind.destroy())
      behind.on('error', () => plain.destroy())
      raw.on('close', () => behind.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  port = Object(server.address()).port
})
afterAll(async () => {
  server.close()
  await database.drop()
})

/** In a process of its own: Node.js reads NODE_EXTRA_CA_CERTS when it starts. */
async function asks(host: string, sslmode: string, knowsAuthority: boolean, more = ''): Promise<string> {
  const url = `postgres://greenroom@${host}:${port}${new URL(database.url).pathname}?sslmode=${sslmode}${more}`
  const script = `
    import { connect } from './src/persistence/postgres/database.ts'
    const sql = connect(${JSON.stringify(url)}, { name: 'tls', max: 1, timeoutMs: 20000 })
    const said = await sql\`select 'served' as word\`.then(([row]) => row.word, (error) => error.code)
    console.log(said)
    await sql.end({ timeout: 1 })`
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  const env = knowsAuthority ? { ...rest, NODE_EXTRA_CA_CERTS: join(folder, 'cert') } : rest
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: checkout, env })
  return (await run).stdout.trim()
}

test.each([
  ['localhost', 'require', false, 'served'],
  ['localhost', 'verify-full', true, 'served'],
  ['localhost', 'verify-full', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['127.0.0.2', 'verify-full', true, 'served'],
  ['127.0.0.1', 'verify-full', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('%s with sslmode=%s, authority known: %s: %s', async (host, sslmode, knowsAuthority, says) => {
  expect(await asks(host, sslmode, knowsAuthority)).toBe(says)
})

test.each([
  ['localhost', 'verify-full', 'served'],
  ['127.0.0.1', 'verify-full', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['127.0.0.1', 'verify-ca', 'served'],
  ['127.0.0.1', 'require', 'served'],
])('sslrootcert, %s with sslmode=%s: %s', async (host, sslmode, says) => {
  expect(await asks(host, sslmode, false, `&sslrootcert=${join(folder, 'cert')}`)).toBe(says)
})

test('another authority in sslrootcert is not that of the server', async () => {
  expect(await asks('localhost', 'require', false, '&sslrootcert=system')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
})
