/** Reads JSON bodies, strictly (contract sections 2 and 18). Both scopes use it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ownTurns } from '../../async/own-turn.ts'
import { openUploads, takesParts } from '../../features/parts/index.ts'
import { parseNoted } from '../../untrusted/exact-json.ts'
import { HttpError } from './http-error.ts'
import { MOST_LEVELS, MOST_VALUES, measureJson } from './json-size.ts'
import { readBody } from './request-body/incoming-body.ts'
import { placeOfFault } from './request-body/json-fault.ts'
import { createShare, SHARES } from './request-body/shares.ts'
import { findFault } from './request-body/text.ts'

/**
 * Receiving, reading and answering a larger body costs up to 50 ms each: other requests have their turn between these,
 * and no two bodies are read in one turn, however many arrive together.
 */
const LARGE_BYTES = 256 * 1024
const ownTurn = ownTurns()

/**
 * Replaces Fastify's parsers in this scope. Empty bodies are `undefined`; other media types, or none, are 415; broken
 * UTF-8 or JSON, too many values, `__proto__` keys and text that cannot be stored are 400. What bodies hold counts in the
 * scope's share, under the name of who sent them. `publicUrl`: PUBLIC_URL, under which stored parts may be named.
 */
export function registerJson(
  app: FastifyInstance,
  scope: 'management' | 'deploy',
  holderOf: (request: FastifyRequest) => string = () => scope,
  publicUrl: string | null = null,
): void {
  const largestBody = app.initialConfig.bodyLimit ?? 0
  const ofScope = createShare(SHARES[scope], largestBody)
  const ofOpen = createShare(SHARES.open, largestBody)
  app.decorate('accountOf', (request) => {
    const isOpen = request.routeOptions.config.operation?.open === true
    return isOpen ? ofOpen.account('open') : ofScope.account(holderOf(request))
  })
  app.removeAllContentTypeParsers()
  app.decorateRequest('uploads', null)
  app.addHook('onRequest', (request, reply, done) => {
    if (takesParts(request)) openUploads(request, reply, publicUrl)
    done()
  })
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { uploads } = request
    const body = await readBody(request, uploads?.filter())
    if (body.length === 0) return undefined
    const isLarge = body.length >= LARGE_BYTES
    if (isLarge) await ownTurn()
    const size = measureJson(body)
    if (isLarge) await ownTurn()
    const value = readJson(body, size)
    if (isLarge) await ownTurn()
    uploads?.restoreFields(value)
    return value
  })
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (isEmpty(request)) return undefined
    const given = request.headers['content-type']
    const found = given === undefined ? 'none was named' : `not ${JSON.stringify(given.slice(0, 100))}`
    throw new HttpError(415, `The body's content-type must be application/json, ${found}.`)
  })
}

/** Parses no body, for operations that do not look at one. */
export function ignoreBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async () => undefined)
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
export function readJson(body: Buffer, { values, levels, hasUnicodeEscape } = measureJson(body)): unknown {
  if (levels > MOST_LEVELS) throw new HttpError(400, `body: must not be nested more than ${MOST_LEVELS} deep`)
  if (values > MOST_VALUES) throw new HttpError(400, `body: must not hold more than ${MOST_VALUES} values`)
  const text = decodeUtf8(body)
  let value: unknown
  try {
    value = parseNoted(text)
  } catch (error) {
    // V8 quotes the text around the fault, which may hold a secret: only the place is given.
    const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0] ?? placeOfFault(text)
    throw new HttpError(400, place === null ? 'body: is not valid JSON' : `body: is not valid JSON (${place})`)
  }
  // Only what may hold a fault is walked.
  const isSuspect = hasUnicodeEscape || text.includes('__proto__') || text.includes('constructor')
  const fault = isSuspect ? findFault(value) : null
  if (fault) throw new HttpError(400, fault)
  return value
}
