/** The caller that a deploy request comes from, and what each may reach (specification 5.1, contract section 11). */
import type { FastifyRequest } from 'fastify'
import type { Operation } from '../../../../openapi/operation.ts'
import type { Limits } from '../../../actors/ports/index.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import type { Handlers, TagName } from '../../../http/server/mount.ts'
import type { KnownKey } from '../../keys/index.ts'

/** The content of a client secret. */
export interface ClientSecret {
  kind: 'secret'
  agentId: string
  user: string
  /** The only session that it opens. Null stands for all of its user's. */
  sessionId: string | null
  /** The time at which it expires, in Unix seconds. */
  expiresAt: number
  /** The place among all secrets and revocations. */
  number: number
  /** The named key that it was made with, and dies with. Null when it was made with none. */
  keyId: string | null
}

/** A client secret that was checked. */
export interface SecretCaller extends ClientSecret {
  /** The limits of the key it was made with. Null when it was made with none, or that has no limits. */
  keyLimits: Limits | null
}

/**
 * `key`: the deploy key, or a named one, which opens its agents alone. `anyone`: no key is set, and nothing was sent that
 * limits. Both may do everything there.
 */
export type Caller = { kind: 'key'; named: KnownKey | null } | { kind: 'anyone' } | SecretCaller

/** The fields that each handler of the deploy scope is given besides its input. */
export interface DeployExtra {
  caller: Caller
}

/** The handlers of one tag of the deploy scope. Write `… satisfies DeployHandlers<'sessions'>`. */
export type DeployHandlers<Tag extends TagName> = Handlers<Tag, DeployExtra>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set in the deploy scope once the credentials were checked. */
    caller?: Caller | null
  }
}

/** Throws when the credentials were not checked: the route lies outside of the deploy scope. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request
  if (!caller) throw new Error(`${request.method} ${request.routeOptions.url} has no caller`)
  return caller
}

/** Returns the named key that a request counts for. Null when there is none. */
export function keyIdOf(caller: Caller): string | null {
  if (caller.kind === 'secret') return caller.keyId
  return caller.kind === 'key' ? (caller.named?.id ?? null) : null
}

/** Returns a name of the caller among all: a key's, or that of an agent's user. */
export const callerName = (caller: Caller): string =>
  caller.kind === 'secret' ? JSON.stringify([caller.agentId, caller.user]) : (keyIdOf(caller) ?? 'PUBLIC_API_KEY')

/** Returns the agents that a named key opens. Null means all. */
export const agentsOf = (caller: Caller): readonly string[] | null =>
  caller.kind === 'key' ? (caller.named?.agentIds ?? null) : null

/** Returns whether the caller's credential opens this agent. */
export function opensAgent(caller: Caller, agentId: string): boolean {
  if (caller.kind === 'secret') return caller.agentId === agentId.toLowerCase()
  return caller.kind !== 'key' || caller.named === null || keyOpens(caller.named, agentId)
}

export const keyOpens = ({ agentIds }: KnownKey, agentId: string): boolean =>
  agentIds === null || agentIds.includes(agentId.toLowerCase())

/** Returns a parameter of the path, before anything has been checked. Null when it has none of this name. */
export function pathParam(request: FastifyRequest, name: 'agent_id' | 'session_id'): string | null {
  const value = new Map<string, unknown>(Object.entries(request.params ?? {})).get(name)
  return typeof value === 'string' ? value : null
}

/** Returns the user whose sessions the caller reaches. Null for a caller that reaches all sessions. */
export const userOf = (caller: Caller): string | null => (caller.kind === 'secret' ? caller.user : null)

/**
 * Returns false when the secret is for another session, or for sessions of others; `user` is null for those without a
 * user.
 */
export function opens(caller: Caller, session: { id: string; user: string | null }): boolean {
  if (caller.kind !== 'secret') return true
  return caller.user === session.user && opensId(caller, session.id)
}

/** Returns whether the session may be the caller's, as far as its id tells. Its user is still to be compared. */
export const opensId = (caller: Caller, sessionId: string): boolean =>
  caller.kind !== 'secret' || caller.sessionId === null || caller.sessionId === sessionId.toLowerCase()

/** Throws 403 for an operation that the caller may not use at all, whatever it names. */
export function requirePermission(caller: Caller, { secret: rule }: Pick<Operation, 'secret'>): void {
  if (caller.kind !== 'secret') return
  if (rule === undefined) throw new HttpError(403, 'A client secret does not open this: it needs the deploy key.')
  if (rule === 'user' && caller.sessionId !== null) {
    throw new HttpError(403, 'This client secret opens one session alone: it neither makes nor lists any.')
  }
}
