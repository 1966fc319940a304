/** Reads JSON bodies, strictly (contract section 2). Both scopes use it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import { findFault } from './text.ts'

// Only what this finds is walked. Raw U+0000 is no JSON and raw half pairs are no UTF-8: an escape is their only way in.
const suspect = /\\u|__proto__|constructor/

/**
 * Takes the place of Fastify's parsers in this scope. Empty bodies are `undefined`; other media types, or
 * none, are 415; broken UTF-8 or JSON, `__proto__` keys and text that can't be stored are 400. Bodies over the
 * server's `bodyLimit` are refused by Fastify with 413.
 */
export function registerJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length === 0 ? undefined : readJson(body),
  )
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (isEmpty(request)) return undefined
    const given = request.headers['content-type']
    const found = given === undefined ? 'none was named' : `not ${JSON.stringify(given.slice(0, 100))}`
    throw new HttpError(415, `The body's content-type must be application/json, ${found}.`)
  })
}

const isEmpty = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** Throws `HttpError` 400. */
export function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new HttpError(400, 'body: is not valid UTF-8')
  }
}

/** Throws `HttpError` 400. */
function readJson(body: Buffer): unknown {
  const text = decodeUtf8(body)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // V8 quotes the text around the fault, which may hold a secret: only the place is told.
    const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0]
    throw new HttpError(400, place ? `body: is not valid JSON (${place})` : 'body: is not valid JSON')
  }
  const fault = suspect.test(text) ? findFault(value) : null
  if (fault) throw new HttpError(400, fault)
  return value
}
