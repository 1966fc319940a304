/** The declaration of an operation. The document, the types and the routes are derived from it. */
import type { TObject, TSchema } from 'typebox'

/** The credentials required: none, the bearer key of the deploy API, or the login of the management API. */
export type Scope = 'health' | 'deploy' | 'management'

/** The roles of people and management keys; each may do what the ones before it may. */
export const roles = ['viewer', 'editor', 'admin'] as const
export type Role = (typeof roles)[number]

/** Reports whether somebody of the first role may do what the second one is needed for. */
export const suffices = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed)

export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /**
   * The path as in OpenAPI, with `{name}` for parameters. Parameters are plain strings: a malformed id is unknown, 404.
   */
  path: string
  scope: Scope
  /** True if it needs no login although its scope requires one. */
  open?: true
  /** Only in the management scope, where each operation that is not open has one: the least role that may do it. */
  role?: Role
  /** Only in the management scope: keys open it with this scope alone, whatever their role. */
  keyScope?: 'audit:read'
  /**
   * Only in the management scope: the parameter of the path that names the session, or the message, whose content it
   * shows.
   */
  shows?: 'id' | 'session_id' | 'message_id' | 'child_id'
  /**
   * Only in the management scope: no key opens the operation, only a login (or nothing, where no login is required).
   */
  loginAlone?: true
  /**
   * Only in the deploy scope: what a client secret may do here. Nothing by default (403). `user`: what concerns its user, unless
   * it is for one session (403). `session`: the session that `{session_id}` names is compared before the handler is
   * called (404). `handler`: the handler compares it.
   */
  secret?: 'user' | 'session' | 'handler'
  /** Only in the deploy scope: the token of a share opens it too, and is answered with what the share shows. */
  share?: true
  summary: string
  description?: string
  query?: TObject
  /** Request headers that matter here, for the document. Handlers read and check them. */
  headers?: Readonly<Record<string, string>>
  body?: TSchema
  /**
   * Fields that the body does not have are refused, as they are in every body of the management scope; of a GET or PUT
   * the parameters that its query does not have, as a misspelt filter would answer with everything.
   */
  refusesUnknown?: true
  /** The fields of a `multipart/form-data` body, in place of `body`. The handler reads and checks them. */
  form?: TObject
  /** An absent body is treated as `{}`. */
  bodyOptional?: true
  /** Media types of the body besides `application/json`. */
  alsoConsumes?: readonly string[]
  /** Larger bodies get 413, as do those above `MAX_BODY_BYTES`. */
  maxBodyBytes?: number
  /** Pictures and files in its body do not count towards the limit; they have their own (contract section 13). */
  takesParts?: true
  /** The operations that respond with server-sent events: always (`only`), or on request (`also`). */
  streams?: 'only' | 'also'
  /** Answers with lines of JSON (`application/x-ndjson`), each of which holds this. */
  lines?: TSchema
  /**
   * True if the answer may be long. It is then written in pieces, as fast as it is read; a list that is too long
   * without a limit is refused with 413.
   */
  pieces?: true
  /** Answers with bytes of a media type that is theirs. */
  bytes?: true
  /** Answers with plain text too, where the query asks for it. */
  text?: true
  /** Schemas of its events' `data:`, except `[DONE]`. */
  events?: readonly TSchema[]
  /** The success statuses, the usual one first. Null when there is no JSON body. */
  responses: Readonly<Record<number, TSchema | null>>
  /** Other statuses, and when. 401, 403, 413, 415 and 500 are added where they apply. */
  errors?: Readonly<Record<number, string>>
}

export type Operations = Readonly<Record<string, Operation>>

/** Keeps the ids as literal types, so that `mount` can check handlers against them. */
export const operations = <const Ids extends string>(declared: Readonly<Record<Ids, Operation>>) => declared

/** Returns the status of an ordinary success. */
export function successStatus(operation: Operation): number {
  const [first] = Object.keys(operation.responses)
  if (first === undefined) throw new Error(`${operation.path} declares no response`)
  return Number(first)
}

/** Returns the names of a path's parameters: `/agents/{agent_id}` → `['agent_id']`. */
export const pathParams = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

/** The body limit for callers without credentials (contract section 18). */
export const OPEN_BODY_BYTES = 16 * 1024
