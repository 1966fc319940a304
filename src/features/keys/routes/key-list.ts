/**
 * The keys as this instance knows them (contract section 23). Known keys cost a request no statement; what others have
 * changed comes by polling, and ends open streams too. While the database is away, what is known counts.
 */

import { Unauthorized } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { findKnownKey, hashOfKey, type KnownKey, keysVersion, knownKeys, noteUse } from '../store/keys.ts'

/** The form of keys as they are made. */
const FORM = /^gr_[A-Za-z0-9_-]{43}$/
const PREFIX = 'gr_'

/** Returns whether the text is written as a key, be it good or not. */
export const isNamedKey = (text: string): boolean => text.startsWith(PREFIX)

export const badKey = () => new Unauthorized('invalid_api_key', 'The API key is not valid.')

/** A use is stored at most this often for each key. */
const USE_MS = 20_000

export interface KeyStore {
  hashOf(key: string): string
  version(): Promise<number>
  all(): Promise<KnownKey[]>
  find(by: { hash: string } | { id: string }): Promise<KnownKey | null>
  noteUse(ids: readonly string[]): Promise<void>
}

export interface KeyList {
  /** Returns the key that was sent. Null where it is none. Rejects with `Unauthorized` where it has expired. */
  find(text: string): Promise<KnownKey | null>
  /** Returns a key by its id. Null where there is none that has not expired. */
  get(id: string): Promise<KnownKey | null>
  /** Aborts with `Unauthorized` once the key is deleted or expires. Ends with `stop`. */
  watch(id: string): { signal: AbortSignal; stop(): void }
  /** Reads what has changed, and stores which keys were used. */
  poll(): Promise<void>
}

const isOver = ({ expiresAt }: KnownKey): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now()

export function createKeyList(store: KeyStore): KeyList {
  let byHash = new Map<string, KnownKey>()
  let byId = new Map<string, KnownKey>()
  let version = -1
  const watched = new Map<string, Set<AbortController>>()
  const used = new Set<string>()
  const noted = new Map<string, number>()

  async function load(newest: number): Promise<void> {
    const keys = await store.all()
    version = newest
    byHash = new Map(keys.map((key) => [key.hash, key]))
    byId = new Map(keys.map((key) => [key.id, key]))
    for (const id of noted.keys()) if (!byId.has(id)) noted.delete(id)
  }

  /** Looks for a key that was made since the last poll, maybe on another instance. */
  async function look(by: { hash: string } | { id: string }): Promise<KnownKey | null> {
    const before = version
    const key = await store.find(by)
    if (key === null || before !== version) return key // read before a change, perhaps: it is not kept
    byHash.set(key.hash, key)
    byId.set(key.id, key)
    return key
  }

  function noteUse({ id }: KnownKey): void {
    if (performance.now() - (noted.get(id) ?? Number.NEGATIVE_INFINITY) > USE_MS) used.add(id)
  }

  return {
    async find(text) {
      if (!FORM.test(text)) return null
      const hash = store.hashOf(text)
      const key = byHash.get(hash) ?? (await look({ hash }))
      if (key === null) return null
      if (isOver(key)) throw new Unauthorized('invalid_api_key', `The API key expired on ${key.expiresAt}.`)
      noteUse(key)
      return key
    },
    async get(id) {
      const key = byId.get(id) ?? (await look({ id }))
      return key === null || isOver(key) ? null : key
    },
    watch(id) {
      const controller = new AbortController()
      const all = watched.get(id) ?? new Set()
      watched.set(id, all.add(controller))
      return {
        signal: controller.signal,
        stop() {
          all.delete(controller)
          if (all.size === 0 && watched.get(id) === all) watched.delete(id)
        },
      }
    },
    async poll() {
      const newest = await store.version()
      if (newest !== version) await load(newest)
      for (const [id, controllers] of watched) {
        const key = byId.get(id)
        if (key === undefined || isOver(key)) for (const one of controllers) one.abort(badKey())
      }
      if (used.size === 0) return
      const ids = [...used]
      used.clear()
      for (const id of ids) noted.set(id, performance.now())
      await store.noteUse(ids)
    },
  }
}

/** Returns the list of the stored keys. It knows them once it has polled. */
export const storedKeyList = (sql: Sql): KeyList =>
  createKeyList({
    hashOf: hashOfKey,
    version: () => keysVersion(sql),
    all: () => knownKeys(sql),
    find: (by) => findKnownKey(sql, by),
    noteUse: (ids) => noteUse(sql, ids),
  })
