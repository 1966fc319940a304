/** The configured names and passwords (contract sections 1 and 2). */
import { createHash, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { findCredential } from './password.ts'

/** An entry of `AUTH_CREDENTIALS`: the password in plain text or as `npm run hash-password` prints it. */
export interface Credential {
  username: string
  password: string
}

export interface Credentials {
  /** Returns whether name and password fit. Takes as long for unknown names as for known ones. */
  fit(username: string, password: string): Promise<boolean>
  /**
   * Returns the fingerprint of the credential of this name, the same on every instance and after every start. Null when
   * there is no such name.
   */
  hashOf(username: string): Promise<Buffer | null>
}

const deriveKey = promisify<string, string, number, Buffer>(scrypt)

/** Takes each name once. */
export function knownCredentials(entries: readonly Credential[]): Credentials {
  const hashes = new Map<string, Promise<Buffer>>()
  return {
    fit: async (username, password) => (await findCredential(entries, username, password)) !== null,
    async hashOf(username) {
      const entry = entries.find((one) => one.username === username)
      if (entry === undefined) return null
      const hash = hashes.get(username) ?? credentialHash(entry)
      hashes.set(username, hash)
      return hash
    },
  }
}

/**
 * Lies in the database beside each login, so it must be as slow to guess from as a password hash. The salt is
 * fixed because all instances must agree.
 */
async function credentialHash({ username, password }: Credential): Promise<Buffer> {
  const derived = await deriveKey(password, `greenroom login ${username}`, 32)
  return createHash('sha256').update(username).update(derived).digest()
}
