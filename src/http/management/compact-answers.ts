/** Answers of the management API that are JSON or YAML: compressed, and not sent again while they are the same. */
import compress from '@fastify/compress'
import etag from '@fastify/etag'
import type { FastifyInstance } from 'fastify'

/**
 * Streams are left alone: they are written to the socket, or are no JSON. The tag is made of the text before it is
 * compressed, and is weak, for it is the same for each encoding.
 */
export async function compactAnswers(app: FastifyInstance): Promise<void> {
  // Hooks run in this order.
  await app.register(etag, { weak: true })
  await app.register(compress, {
    globalDecompression: false,
    customTypes: /^application\/(?:json|yaml)\b/,
    encodings: ['br', 'gzip'],
  })
}
