/** Every operation of the contract, by method and path, with its generated types. */
import type { paths } from './schema.ts'
import { readAnswer, type Transport } from './wire/transport.ts'

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete'
/** Paths that have the method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P][M] extends object ? P : never }[keyof paths]
type JsonOf<Content> = Content extends { 'application/json': infer Body } ? Body : never

type ParamsOf<O> = O extends { parameters: infer P } ? Pick<P, Extract<keyof P, 'path' | 'query'>> : never
type ParamsInit<O> = Record<never, never> extends ParamsOf<O> ? { params?: ParamsOf<O> } : { params: ParamsOf<O> }
type BodyInit<O> = O extends { requestBody: { content: infer C } }
  ? { body: JsonOf<C> }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: JsonOf<C> }
    : { body?: never }
type InitOf<O> = ParamsInit<O> & BodyInit<O> & { headers?: Record<string, string>; signal?: AbortSignal | undefined }
type ArgumentsOf<O> = Record<never, never> extends InitOf<O> ? [init?: InitOf<O>] : [init: InitOf<O>]

/** The JSON of the responses below 300; undefined stands for 204. */
export type DataOf<O> = O extends { responses: infer R }
  ? { [S in Extract<keyof R, 200 | 201 | 204>]: R[S] extends { content: infer C } ? JsonOf<C> : undefined }[Extract<
      keyof R,
      200 | 201 | 204
    >]
  : never

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: ArgumentsOf<paths[P][M]>
) => Promise<DataOf<paths[P][M]>>

/** Each resolves to the response's data. Rejects with `ApiError`, `ConnectionError`, or the signal's reason. */
export interface Calls {
  GET: Call<'get'>
  PUT: Call<'put'>
  POST: Call<'post'>
  PATCH: Call<'patch'>
  DELETE: Call<'delete'>
}

interface AnyInit {
  params?: { path?: object; query?: object }
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

export function createCalls(transport: Transport, parse?: (text: string) => unknown): Calls {
  const callWith =
    <M extends Method>(method: string): Call<M> =>
    async (path, ...[init]) => {
      const { params = {}, ...options }: AnyInit = init ?? {}
      const data = await readAnswer(await transport(method, addressOf(path, params), options), parse)
      // The contract's own type of the response.
      return data as DataOf<paths[typeof path][M]>
    }
  return {
    GET: callWith('GET'),
    PUT: callWith('PUT'),
    POST: callWith('POST'),
    PATCH: callWith('PATCH'),
    DELETE: callWith('DELETE'),
  }
}

/**
 * Returns `/agents/{id}` with its parts filled in, and the query after it. Null and undefined are left out; an object
 * is written `name[key]=value`.
 */
export function addressOf(path: string, { path: parts = {}, query = {} }: NonNullable<AnyInit['params']>): string {
  const values = new Map<string, unknown>(Object.entries(parts))
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values.get(name))))
  const search = new URLSearchParams()
  const add = (name: string, value: unknown) => {
    if (value == null) return
    if (typeof value !== 'object') search.append(name, String(value))
    else for (const [key, part] of Object.entries(value)) add(`${name}[${key}]`, part)
  }
  for (const [name, value] of Object.entries(query)) add(name, value)
  return search.size === 0 ? filled : `${filled}?${search}`
}
