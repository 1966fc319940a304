/** Types that turn an operation of the generated `schema.ts` into the handler that serves it. */

/** The fields that the HTTP side adds to a handler's input; streams hijack `reply`. */
export interface Exchange {
  request: unknown
  reply: unknown
}

type ContentOf<Part> = NonNullable<Part> extends { content: infer Content } ? Content : never
type JsonOf<Part> = ContentOf<Part> extends { 'application/json': infer Body } ? Body : never

type Given<Values> = [NonNullable<Values>] extends [never] ? Record<never, never> : NonNullable<Values>
/** Query parameters with a default are present after validation. */
type Filled<Values, Names> = Given<Values> & Required<Pick<Given<Values>, Extract<keyof Given<Values>, Names>>>

type Success<O> = O extends { responses: infer R } ? R[Extract<keyof R, 200 | 201 | 202 | 204>] : never
type Streamed<O, X extends Exchange> =
  ContentOf<Success<O>> extends infer Content
    ? Content extends { 'text/event-stream': unknown } | { 'application/x-ndjson': unknown } | { 'text/plain': unknown }
      ? X['reply'] | undefined
      : never
    : never
type Result<O, X extends Exchange> = [JsonOf<Success<O>> | Streamed<O, X>] extends [never]
  ? // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a response body returns nothing.
    void
  : JsonOf<Success<O>> | Streamed<O, X>

/** Path, query and body, validated against the contract. */
export type Input<O, Defaults extends string = never> = O extends { parameters: { path?: infer P; query?: infer Q } }
  ? {
      params: Given<P>
      query: Filled<Q, Defaults>
      body: O extends { requestBody?: infer B } ? JsonOf<B> : never
    }
  : never

/**
 * The handler of an operation. It returns the body of a success, or hijacks `reply` if the operation streams. It throws
 * `HttpError`.
 */
export type Handler<O, X extends Exchange, Defaults extends string = never> = (
  input: Input<O, Defaults> & X,
) => Result<O, X> | Promise<Result<O, X>>

/** A `Handler` whose answer may be long: it returns the body, or `reply` where the answer is written in pieces. */
export type PiecesHandler<O, X extends Exchange, Defaults extends string = never> = (
  input: Input<O, Defaults> & X,
) => Promise<Result<O, X> | X['reply']>
