/** The cookie of a sign-in under way, encrypted (contract section 33). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import { decoder } from '../../../persistence/stored-json.ts'
import type { Challenge } from '../issuer.ts'

const NAME = 'greenroom_oidc'
const LIFETIME_S = 10 * 60
const CONTEXT = 'oidc sign-in'

const read = decoder(
  'A sign-in',
  Type.Object({
    state: Type.String(),
    nonce: Type.String(),
    verifier: Type.String(),
    to: Type.String(),
    /** Milliseconds since 1970. */
    at: Type.Number(),
  }),
)

export interface SignInCookie {
  set(request: FastifyRequest, reply: FastifyReply, carried: Challenge & { to: string }): void
  clear(request: FastifyRequest, reply: FastifyReply): void
  /** Returns what the browser carries. Null where it is nothing, not ours, or older than ten minutes. */
  read(request: FastifyRequest): (Challenge & { to: string }) | null
}

export function signInCookie(secrets: Pick<Secrets, 'seal' | 'open'>, publicUrl: () => URL): SignInCookie {
  const put = (request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number) => {
    const url = publicUrl()
    const path = `${url.pathname.replace(/\/$/, '')}/api/auth/oidc`
    reply.setCookie(NAME, value, { httpOnly: true, sameSite: 'lax', path, maxAge, secure: isSecure(url, request) })
  }
  return {
    set(request, reply, carried) {
      put(request, reply, secrets.seal(JSON.stringify({ ...carried, at: Date.now() }), CONTEXT), LIFETIME_S)
    },
    clear: (request, reply) => put(request, reply, '', 0),
    read(request) {
      try {
        const carried = read(JSON.parse(secrets.open(request.cookies[NAME] ?? '', CONTEXT)))
        return Date.now() - carried.at <= LIFETIME_S * 1000 ? carried : null
      } catch {
        return null
      }
    },
  }
}

/** Reports whether cookies are only for https. */
export const isSecure = (publicUrl: URL, request: FastifyRequest): boolean =>
  publicUrl.protocol === 'https:' || request.protocol.toLowerCase() === 'https'
