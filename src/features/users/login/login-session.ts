/** The login cookie (contract section 2): who a request comes from, and its beginning and end. */
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../../../../openapi/operation.ts'
import type { Sql, Tx } from '../../../persistence/postgres/database.ts'
import * as logins from '../store/logins.ts'
import type { Credentials } from './credentials.ts'

const cookieName = 'greenroom_session'
const lifetimeS = 7 * 24 * 60 * 60

declare module 'fastify' {
  interface FastifyRequest {
    /** The person who has logged in, once management has looked. Null for keys, and where no login is required. */
    person?: Person | null
    /** The role of person or key. Null for a key without one. */
    role?: Role | null
  }
}

/** A person who has logged in. */
export interface Person {
  /** The name that is shown. */
  name: string
  role: Role
  method: 'password' | 'oidc'
  /** The same for the same person, whatever the name is by now. */
  identity: string
}

/** Logins of another means than passwords: `credentialHash` is that of now, `check` confirms the person. */
export interface OtherLogins {
  readonly credentialHash: Buffer
  check(tokenHash: Buffer): Promise<Person | null>
}

export interface LoginSessions {
  /** Returns who has logged in; null without a valid login. Extends the login, once a request. */
  personOf(request: FastifyRequest, reply: FastifyReply): Promise<Person | null>
  /** Returns who has logged in by now, for answers that last. Extends nothing. */
  personNow(request: FastifyRequest): Promise<Person | null>
  /** Logs a known name in and sets the cookie. */
  begin(username: string, request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Logs a person in who has another means. `keep` stores what it needs, in the same transaction. */
  beginOther(
    person: Person,
    keep: (tx: Tx, tokenHash: Buffer) => Promise<void>,
    exchange: { request: FastifyRequest; reply: FastifyReply; secure: boolean },
  ): Promise<void>
  /** Ends the login that the request carries, if any, and clears its cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Returns the hash of the token that the request carries. */
  tokenHashOf(request: FastifyRequest): Buffer | null
}

/**
 * Makes the login sessions. `credentials` are those of now: a login that was made with another one is over. Needs
 * `@fastify/cookie`.
 */
export function loginSessions(
  sql: Sql,
  credentials: Credentials,
  { others = null, secure = false }: { others?: OtherLogins | null; secure?: boolean } = {},
): LoginSessions {
  const known = new WeakMap<FastifyRequest, Promise<Person | null>>()
  const confirm = async (login: logins.Login, tokenHash: Buffer): Promise<Person | null> => {
    const { username, method, credentialHash } = login
    const current = method === 'oidc' ? others?.credentialHash : await credentials.hashOf(username)
    if (!current?.equals(credentialHash)) return null
    if (method === 'oidc') return (await others?.check(tokenHash)) ?? null
    return { name: username, role: 'admin', method, identity: `login:${username}` }
  }
  const find = async (request: FastifyRequest, reply: FastifyReply): Promise<Person | null> => {
    const token = request.cookies[cookieName]
    const login = token ? await logins.useLogin(sql, hashOf(token)) : null
    if (token === undefined || login === null) return null
    const person = await confirm(login, hashOf(token))
    if (person === null && login.method === 'oidc') setCookie(request, reply, '', 0)
    if (person !== null && login.renewed)
      setCookie(request, reply, token, login.expiresIn, secure && login.method === 'oidc')
    return person
  }
  return {
    personOf(request, reply) {
      const person = known.get(request) ?? find(request, reply)
      known.set(request, person)
      return person
    },
    async personNow(request) {
      const token = request.cookies[cookieName]
      const login = token ? await logins.findLogin(sql, hashOf(token)) : null
      return token === undefined || login === null ? null : await confirm(login, hashOf(token))
    },
    async begin(username, request, reply) {
      const credentialHash = await credentials.hashOf(username)
      if (credentialHash === null) throw new Error('A login needs a configured name.')
      const token = randomBytes(32).toString('base64url')
      await logins.createLogin(sql, { tokenHash: hashOf(token), username, credentialHash, method: 'password' })
      setCookie(request, reply, token, lifetimeS)
    },
    async beginOther({ name, method }, keep, { request, reply, secure: isSecure }) {
      const token = randomBytes(32).toString('base64url')
      const credentialHash = others?.credentialHash
      if (credentialHash === undefined) throw new Error('There is no other means to log in.')
      await sql.begin(async (tx) => {
        await logins.createLogin(tx, { tokenHash: hashOf(token), username: name, credentialHash, method })
        await keep(tx, hashOf(token))
      })
      setCookie(request, reply, token, lifetimeS, isSecure)
    },
    tokenHashOf(request) {
      const token = request.cookies[cookieName]
      return token === undefined || token === '' ? null : hashOf(token)
    },
    async end(request, reply) {
      const token = request.cookies[cookieName]
      if (token) await logins.deleteLogin(sql, hashOf(token))
      setCookie(request, reply, '', 0)
    },
  }
}

/** Hashes a token. The database stores only this, which is no use for a login. */
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  maxAge: number,
  isSecure = false,
): void {
  const secure = isSecure || request.protocol.toLowerCase() === 'https'
  reply.setCookie(cookieName, token, { httpOnly: true, sameSite: 'lax', path: '/', maxAge, secure })
}
