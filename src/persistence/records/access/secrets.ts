/**
 * Secrets at rest: AES-256-GCM under keys that come from SECRET_KEY or `DATA_DIR/secret.key` (contract section 1).
 * A sealed text is `v1.<key id>.<nonce>.<ciphertext and tag>`, the last two in base64url.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { codeOf, type Sql, type Tx } from '../../postgres/database.ts'
import { makeFolder } from '../../postgres/embedded/embedded-host.ts'

/** The key of this database is missing, or is not the one given. The message is one line that names SECRET_KEY or DATA_DIR. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError'
}

export interface Secrets {
  /** Encrypts a secret. `context` says what the secret belongs to (`provider:<id>`); only the same context decrypts it. */
  seal(plain: string, context: string): string
  /** Throws if no key fits, the text was changed, or it was sealed for another context. */
  open(sealed: string, context: string): string
  /**
   * Derives keys for another use, which reveal nothing about the keys that encrypt. The first is for new values, all are
   * for older ones.
   */
  derive(use: string): readonly DerivedKey[]
  /** Stored secrets that no key could decrypt at the start, for the log: `provider:<id>`. */
  readonly unreadable: readonly string[]
}

export interface DerivedKey {
  /** Public: that of the key it comes from. */
  id: string
  bytes: Uint8Array
}

export interface SecretOptions {
  /** SECRET_KEY: the first encrypts, all decrypt. Null stands for `DATA_DIR/secret.key`, generated where that is allowed. */
  keys: readonly string[] | null
  dataDir: string
  /** DATABASE_URL is set: the database is not below DATA_DIR. */
  external: boolean
}

/** Columns with sealed texts, each with the context of a row. Add new ones here, so that they are rotated. */
const sealedColumns = [
  { table: 'providers', column: 'api_key', kind: 'provider' },
  { table: 'http_tools', column: 'secret_headers', kind: 'http-tool' },
  { table: 'mcp_servers', column: 'secret_headers', kind: 'mcp-server' },
  { table: 'webhooks', column: 'secret', kind: 'webhook' },
  { table: 'webhooks', column: 'previous_secret', kind: 'webhook' },
  { table: 'oidc_logins', column: 'id_token', kind: 'oidc-login' },
  { table: 'oidc_logins', column: 'refresh_token', kind: 'oidc-login' },
  { table: 'mcp_servers', column: 'oauth_client_secret', kind: 'mcp-oauth' },
  { table: 'mcp_connections', column: 'sealed', kind: 'mcp-connection' },
  { table: 'mcp_clients', column: 'sealed', kind: 'mcp-client' },
  { table: 'mcp_sign_ins', column: 'sealed', kind: 'mcp-sign-in' },
] as const

/** The encryption context of what MCP servers send with their questions. */
export const requestStateContext = 'request-state'
/** Returns the encryption context of the client secret with which users sign in at an MCP server. */
export const clientSecretContext = (serverId: string): string => `mcp-oauth:${serverId}`
/** The encryption context of the addresses at which users sign in. */
export const signInPageContext = 'sign-in-page'

const checkContext = 'check'

// An arbitrary number. No other program may use it for advisory locks in this database.
const secretsLock = 7_236_150_002

/**
 * Finds the keys, checks them against the value that the first start stored, and re-encrypts secrets that are sealed
 * with another key than the first. All under one lock: any number of instances may start at once, and a rotation may
 * roll through them, as long as each instance has the keys that the others encrypt with. Rejects with one line if the
 * keys are not those of the database.
 */
export async function openSecrets(sql: Sql, options: SecretOptions): Promise<Secrets> {
  return await sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(${secretsLock})`
    const [stored] = await tx<{ check: string | null; in_use: boolean }[]>`
      select (select sealed from secret_check) as check,
             exists (select from secret_check) or exists (select from providers where api_key is not null) as in_use`
    const texts = options.keys ?? [await keyOfFolder(options, stored?.in_use ?? false)]
    const ring = await Promise.all(texts.map(knownKey))
    await settleCheck(tx, ring, stored?.check ?? null, options)
    const unreadable = await resealAll(tx, ring)
    return {
      seal: (plain: string, context: string) => seal(ring, plain, context),
      open: remembering((sealed, context) => unseal(ring, sealed, context)),
      derive: (use: string) =>
        ring.map(({ id, bytes }) => ({
          id,
          bytes: new Uint8Array(hkdfSync('sha256', bytes, '', `greenroom ${use}`, 32)),
        })),
      unreadable,
    }
  })
}

/** Size of the cache of decrypted secrets: decrypting one costs 45 µs, and each reply needs one. */
const MAX_OPENED = 1000

/** Caches decrypted texts. The cache key is the sealed text with its context: a new value always has a new sealed text. */
function remembering(open: Secrets['open']): Secrets['open'] {
  const opened = new LRUCache<string, string>({ max: MAX_OPENED })
  return (sealed, context) => {
    const known = opened.get(`${context} ${sealed}`)
    if (known !== undefined) return known
    const plain = open(sealed, context)
    opened.set(`${context} ${sealed}`, plain)
    return plain
  }
}

async function settleCheck(tx: Tx, ring: Ring, check: string | null, options: SecretOptions): Promise<void> {
  if (check === null) {
    await tx`insert into secret_check (sealed) values (${seal(ring, 'greenroom', checkContext)})`
    return
  }
  try {
    unseal(ring, check, checkContext)
  } catch {
    const source = options.keys ? 'SECRET_KEY' : `The key in DATA_DIR (${join(options.dataDir, 'secret.key')})`
    throw new SecretKeyError(
      `${source} is not the key of this database: its secrets were stored under another one. ` +
        'To change the key, set SECRET_KEY to old,new, then new,old, then new.',
    )
  }
  if (!isSealedByFirst(ring, check)) {
    await tx`update secret_check set sealed = ${seal(ring, 'greenroom', checkContext)}`
  }
}

/** Encrypts secrets of other keys with the first one. Returns the contexts that no key decrypts. A row that was changed since it was read is skipped: it was re-encrypted with that change. */
async function resealAll(tx: Tx, ring: Ring): Promise<string[]> {
  const unreadable: string[] = []
  for (const { table, column, kind } of sealedColumns) {
    const rows = await tx<{ id: string; sealed: string }[]>`
      select id, ${tx(column)} as sealed from ${tx(table)} where ${tx(column)} is not null order by id`
    for (const { id, sealed } of rows) {
      const context = `${kind}:${id}`
      if (isSealedByFirst(ring, sealed)) continue
      const plain = attempt(() => unseal(ring, sealed, context))
      if (plain === null) unreadable.push(context)
      else {
        await tx`update ${tx(table)} set ${tx(column)} = ${seal(ring, plain, context)}
                  where id = ${id} and ${tx(column)} = ${sealed}`
      }
    }
  }
  await resealStates(tx, ring)
  return unreadable
}

/** Encrypts what is kept of calls that wait with the first key. A state that no key decrypts ends as a failed call. */
async function resealStates(tx: Tx, ring: Ring): Promise<void> {
  const pages = await tx<{ replyId: string; place: number; n: number; url: string }[]>`
    select reply_id as "replyId", place, n, url from waiting_questions where sign_in and decision is null`
  for (const { replyId, place, n, url } of pages) {
    const at = url.lastIndexOf('/') + 1
    const plain = attempt(() => unseal(ring, url.slice(at), signInPageContext))
    if (plain === null || isSealedByFirst(ring, url.slice(at))) continue
    await tx`update waiting_questions set url = ${url.slice(0, at) + seal(ring, plain, signInPageContext)}
              where reply_id = ${replyId} and place = ${place} and n = ${n}`
  }
  const rows = await tx<{ replyId: string; place: number; sealed: string }[]>`
    select reply_id as "replyId", place, asked_state as sealed from waiting_calls where open and asked_state is not null`
  for (const { replyId, place, sealed } of rows) {
    if (isSealedByFirst(ring, sealed)) continue
    const plain = attempt(() => unseal(ring, sealed, requestStateContext))
    if (plain === null) continue
    await tx`update waiting_calls set asked_state = ${seal(ring, plain, requestStateContext)}
              where reply_id = ${replyId} and place = ${place} and asked_state = ${sealed}`
  }
}

const attempt = (action: () => string): string | null => {
  try {
    return action()
  } catch {
    return null
  }
}

// ── the key of the folder ───────────────────────────────────────────────────────────────────────────────

async function keyOfFolder({ dataDir, external }: SecretOptions, inUse: boolean): Promise<string> {
  const path = join(dataDir, 'secret.key')
  const found = await readKey(path)
  if (found !== null) return found
  if (inUse) {
    const where = external ? 'DATABASE_URL names a database' : 'DATA_DIR has a database'
    throw new SecretKeyError(`SECRET_KEY is required: ${where} that already holds data, and there is no ${path}.`)
  }
  await makeKey(dataDir, path).catch((error: unknown) => {
    const why = codeOf(error) ?? String(error)
    throw new SecretKeyError(
      `SECRET_KEY is required: it is not set, and DATA_DIR (${dataDir}) cannot keep a key (${why}).`,
    )
  })
  return (await readKey(path)) ?? ''
}

async function makeKey(dataDir: string, path: string): Promise<void> {
  await makeFolder(dataDir)
  // Written completely under another name first: a crash must not leave half a key. `link` never replaces a file.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
  const folder = await open(dataDir)
  await folder.sync().finally(() => folder.close())
}

async function readKey(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`${path} in DATA_DIR cannot be read: ${codeOf(error) ?? String(error)}.`)
  })
  if (text !== null && text.trim() === '') throw new Error(`${path} in DATA_DIR is empty: restore it from a backup.`)
  return text === null ? null : text.trim()
}

// ── sealing ─────────────────────────────────────────────────────────────────────────────────────────────

interface Key {
  id: string
  bytes: Buffer
}

type Ring = readonly Key[]

/** The keys of this process by their texts: several apps in one, as in tests, start with the same. */
const derivedKeys = new LRUCache<string, Promise<Key>>({ max: 8 })

/** Derives a key once. */
function knownKey(text: string): Promise<Key> {
  const known = derivedKeys.get(text)
  if (known !== undefined) return known
  const key = deriveKey(text)
  derivedKeys.set(text, key)
  key.catch(() => derivedKeys.delete(text))
  return key
}

/** Derives a key. SECRET_KEY may be a passphrase of any length, hence scrypt: 16 MiB and about 40 ms a key, once a start. */
async function deriveKey(text: string): Promise<Key> {
  const derived = await new Promise<Buffer>((resolve, reject) => {
    scrypt(text, 'greenroom secrets v1', 40, { N: 2 ** 14, r: 8, p: 1 }, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
  return { bytes: derived.subarray(0, 32), id: derived.subarray(32).toString('hex') }
}

const isSealedByFirst = (ring: Ring, sealed: string): boolean => sealed.startsWith(`v1.${ring[0]?.id}.`)

const authenticated = (id: string, context: string): Buffer => Buffer.from(`v1.${id}.${context}`)

function seal(ring: Ring, plain: string, context: string): string {
  const [key] = ring
  if (!key) throw new Error('There is no key to seal with.')
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(authenticated(key.id, context))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `v1.${key.id}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
}

function unseal(ring: Ring, text: string, context: string): string {
  const [version, id = '', nonce = '', body = ''] = text.split('.')
  const key = ring.find((one) => one.id === id)
  if (version !== 'v1' || !key) throw new Error('No key of SECRET_KEY opens this secret.')
  const sealed = Buffer.from(body, 'base64url')
  const tag = sealed.subarray(Math.max(sealed.length - 16, 0))
  const cipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
  cipher.setAAD(authenticated(id, context)).setAuthTag(tag)
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]).toString('utf8')
}
