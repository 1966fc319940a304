/** Reads YAML bodies, where an operation takes them. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readBody } from '../../arrival/incoming-body.ts'
import { decodeUtf8 } from '../../server/body.ts'
import { parseYaml } from './yaml-thread.ts'

/** RFC 9512, and the names that were in use before it. */
const mediaTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** Takes YAML beside JSON in this scope. */
export function registerYaml(scope: FastifyInstance): void {
  scope.addContentTypeParser(mediaTypes, async (request: FastifyRequest) => {
    const body = await readBody(request)
    return body.length === 0 ? undefined : parseYaml(decodeUtf8(body))
  })
}
