/** What is declared of one operation. From these declarations come the document, the types and the routes. */
import type { TObject, TSchema } from 'typebox'

/** Who asks for credentials: nobody, the bearer key of the deploy API, or the login of the management API. */
export type Scope = 'health' | 'deploy' | 'management'

export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As in OpenAPI, `{name}` for parameters. Parameters are plain strings: a malformed id is unknown, 404. */
  path: string
  scope: Scope
  /** Needs no login although its scope asks for one. */
  open?: true
  summary: string
  description?: string
  query?: TObject
  /** Request headers that mean something here, for the document. Handlers read and check them. */
  headers?: Readonly<Record<string, string>>
  body?: TSchema
  /** An absent body is read as `{}`. */
  bodyOptional?: true
  /** Media types of the body beside `application/json`. */
  alsoConsumes?: readonly string[]
  /** Larger bodies are 413, as are those beyond `MAX_BODY_BYTES`. */
  maxBodyBytes?: number
  /** Answers with server-sent events: always (`only`), or when the request asks for it (`also`). */
  streams?: 'only' | 'also'
  /** What the `data:` of its events holds; `[DONE]` apart. */
  events?: readonly TSchema[]
  /** The success statuses, the first is the usual one. Null: no JSON body. */
  responses: Readonly<Record<number, TSchema | null>>
  /** What else it may answer, and when. 401, 403, 413, 415 and 500 are added where they apply. */
  errors?: Readonly<Record<number, string>>
}

export type Operations = Readonly<Record<string, Operation>>

/** Keeps the ids as literal types, which `mount` checks handlers against. */
export const operations = <const Ids extends string>(declared: Readonly<Record<Ids, Operation>>) => declared

/** The status of an ordinary success. */
export function successStatus(operation: Operation): number {
  const [first] = Object.keys(operation.responses)
  if (first === undefined) throw new Error(`${operation.path} declares no response`)
  return Number(first)
}

/** `/agents/{agent_id}` → `['agent_id']`. */
export const pathParams = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

/** Most that an operation reads of somebody who has shown no credential (contract section 18). */
export const OPEN_BODY_BYTES = 16 * 1024
