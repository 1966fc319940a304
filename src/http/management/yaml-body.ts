/** Reads YAML bodies, where an operation takes them, as strictly as JSON ones. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LineCounter, parseDocument } from 'yaml'
import { decodeUtf8 } from '../body.ts'
import { HttpError } from '../http-error.ts'
import { findFault } from '../text.ts'

/** RFC 9512, and the names that were in use before it. */
const mediaTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** Takes YAML beside JSON in this scope. */
export function registerYaml(scope: FastifyInstance): void {
  scope.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length === 0 ? undefined : readYaml(decodeUtf8(body)),
  )
}

/**
 * YAML 1.2's core schema: no tags of one's own, no merge keys. Aliases are refused: a few lines of them unfold to more
 * than any memory holds. Throws `HttpError` 400, which tells the line alone: the words there may be a secret.
 */
function readYaml(text: string): unknown {
  const lineCounter = new LineCounter()
  const invalid = (place = ''): never => {
    throw new HttpError(400, `body: is not valid YAML${place}`)
  }
  let value: unknown
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false, schema: 'core' })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) invalid(` (line ${lineCounter.linePos(problem.pos[0]).line})`)
    value = document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    if (error instanceof HttpError) throw error
    invalid(error instanceof ReferenceError ? ' (aliases are not taken)' : '')
  }
  const fault = findFault(value)
  if (fault) throw new HttpError(400, fault)
  return value
}
