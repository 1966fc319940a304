/** The login cookie (contract section 2): who a request comes from, and its beginning and end. */
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from '../../../persistence/postgres/database.ts'
import * as logins from '../store/logins.ts'
import type { Credentials } from './credentials.ts'

const cookieName = 'greenroom_session'
const lifetimeS = 7 * 24 * 60 * 60

export interface LoginSessions {
  /** Returns the name of the login; null without a valid one. Extends the login, once a request. */
  userOf(request: FastifyRequest, reply: FastifyReply): Promise<string | null>
  /** Logs a known name in and sets the cookie. */
  begin(username: string, request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Ends the login that the request carries, if any, and clears its cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

/**
 * Makes the login sessions. `credentials` are those of now: a login that was made with another one is over. Needs
 * `@fastify/cookie`.
 */
export function loginSessions(sql: Sql, credentials: Credentials): LoginSessions {
  const known = new WeakMap<FastifyRequest, Promise<string | null>>()
  const find = async (request: FastifyRequest, reply: FastifyReply): Promise<string | null> => {
    const token = request.cookies[cookieName]
    const login = token ? await logins.useLogin(sql, hashOf(token)) : null
    if (token === undefined || login === null) return null
    const current = await credentials.hashOf(login.username)
    if (!current?.equals(login.credentialHash)) return null
    if (login.renewed) setCookie(request, reply, token, login.expiresIn)
    return login.username
  }
  return {
    userOf(request, reply) {
      const user = known.get(request) ?? find(request, reply)
      known.set(request, user)
      return user
    },
    async begin(username, request, reply) {
      const credentialHash = await credentials.hashOf(username)
      if (credentialHash === null) throw new Error('A login needs a configured name.')
      const token = randomBytes(32).toString('base64url')
      await logins.createLogin(sql, { tokenHash: hashOf(token), username, credentialHash })
      setCookie(request, reply, token, lifetimeS)
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

function setCookie(request: FastifyRequest, reply: FastifyReply, token: string, maxAge: number): void {
  const secure = request.protocol.toLowerCase() === 'https'
  reply.setCookie(cookieName, token, { httpOnly: true, sameSite: 'lax', path: '/', maxAge, secure })
}
