/** Password hashes in AUTH_CREDENTIALS: `scrypt:N:r:p:salt:hash`, salt and hash in base64url. */
import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

interface PasswordHash {
  N: number
  r: number
  p: number
  salt: Buffer
  hash: Buffer
}

// 32 MiB and about 0.2 s; OWASP's Password Storage Cheat Sheet counts it as strong as N = 2^17, p = 1 with 128 MiB.
const cost = { N: 2 ** 15, r: 8, p: 3 }

const maxMemory = 128 * 2 ** 20

/** Prints what AUTH_CREDENTIALS takes as a password. Holds no comma, and colons only between its parts. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, { ...cost, salt, hash: Buffer.alloc(32) })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join(':')
}

/** Throws when the text has another form, or asks for so much memory or time that a login could hurt the server. */
export function readHash(text: string): PasswordHash {
  const parts = /^scrypt:(\d{1,9}):(\d{1,3}):(\d{1,3}):([\w-]{11,88}):([\w-]{22,88})$/.exec(text)
  if (!parts) throw new Error('the hash is not of the form scrypt:N:r:p:salt:hash')
  const [N, r, p] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const isPowerOfTwo = N > 1 && Number.isInteger(Math.log2(N))
  if (!isPowerOfTwo || N < 2 ** 12 || r < 1 || p < 1 || p > 16 || 128 * N * r > maxMemory) {
    throw new Error(
      'the hash has parameters out of range: N is a power of two from 4096, 128·N·r at most 128 MiB, p at most 16',
    )
  }
  return { N, r, p, salt: Buffer.from(parts[4] ?? '', 'base64url'), hash: Buffer.from(parts[5] ?? '', 'base64url') }
}

/**
 * Verifies a password. `stored`: a password of AUTH_CREDENTIALS, plain or hashed. The comparison takes constant time.
 */
export async function verifyPassword(stored: string, given: string): Promise<boolean> {
  if (!stored.startsWith('scrypt:')) return timingSafeEqual(digest(stored), digest(given))
  const wanted = readHash(stored)
  return timingSafeEqual(await derive(given, wanted), wanted.hash)
}

/**
 * Returns the credential that name and password fit, else null. Names that are not there, and plain passwords beside
 * hashed ones, take as long as the first hash of the list (contract section 2).
 */
export async function findCredential<T extends { username: string; password: string }>(
  credentials: readonly T[],
  username: string,
  password: string,
): Promise<T | null> {
  const known = credentials.find((one) => one.username === username)
  const hashed = credentials.find((one) => one.password.startsWith('scrypt:'))?.password
  if (hashed !== undefined && !known?.password.startsWith('scrypt:')) await verifyPassword(hashed, password)
  // An unknown name costs the same work, whose result is discarded.
  const fits = await verifyPassword(known?.password ?? '', password)
  return known && fits ? known : null
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

let last: Promise<unknown> = Promise.resolve()

/** Derives one hash at a time: many logins at once must take neither the memory nor the cores from the replies. */
function derive(password: string, { N, r, p, salt, hash }: PasswordHash): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 2 * maxMemory }
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      scrypt(password.normalize('NFKC'), salt, hash.length, options, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  const next = last.then(work)
  last = next.catch(() => {})
  return next
}
