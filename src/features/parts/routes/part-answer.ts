/** The answer with a picture or file of a message (contract section 13). */

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { MessagePart } from '../../../actors/ports/index.ts'
import { missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { findPart, type PartPlace } from '../store/parts.ts'

export type PartScope = 'deploy' | 'playground'

/** Returns the path of this API at which a part is read. */
export const partPath = (scope: PartScope, { agentId, sessionId, messageId, n }: PartPlace): string =>
  `/api/v1/agents/${agentId}/${scope}/sessions/${sessionId}/messages/${messageId}/parts/${n}`

const paths = {
  deploy: /^\/api\/v1\/agents\/([^/]+)\/deploy\/sessions\/([^/]+)\/messages\/([^/]+)\/parts\/(\d+)$/,
  playground: /^\/api\/v1\/agents\/([^/]+)\/playground\/sessions\/([^/]+)\/messages\/([^/]+)\/parts\/(\d+)$/,
} satisfies Record<PartScope, RegExp>

/** Returns the part that a path of `partPath` names. It is null for any other path. */
export function placeOfPath(scope: PartScope, path: string): PartPlace | null {
  const [, agentId, sessionId, messageId, n] = paths[scope].exec(path) ?? []
  if (agentId === undefined || sessionId === undefined || messageId === undefined || n === undefined) return null
  return { agentId, sessionId, messageId, n }
}

/** The time in the caches of browsers (s). The content of such a path never changes. */
const CACHED_S = 3600

/**
 * Sends a part, to be saved or to be shown by a page that chooses to, but never to be run. A browser that opens it
 * shows a document without an origin, which may load nothing. Throws 404.
 */
export async function answerPart(
  sql: Sql,
  { agent_id, session_id, message_id, n }: { agent_id: string; session_id: string; message_id: string; n: string },
  reply: FastifyReply,
  { picturesOnly = false } = {},
): Promise<void> {
  const place = { agentId: agent_id, sessionId: session_id, messageId: message_id, n }
  const part = (await findPart(sql, place)) ?? missing('part')
  if (picturesOnly && (part.type !== 'image_url' || part.callId !== undefined)) missing('part')
  await sendContent(reply, part)
}

/** Sends bytes that somebody uploaded, as `answerPart` does. */
export async function sendContent(
  reply: FastifyReply,
  content: Pick<MessagePart, 'mediaType' | 'size' | 'filename' | 'read'>,
): Promise<void> {
  const { mediaType, size } = content
  await reply
    .header('content-type', mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType)
    .header('content-length', size)
    .header('content-disposition', disposition(content))
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', `private, max-age=${CACHED_S}, immutable`)
    .header('vary', 'Origin') // else a browser takes the answer to an <img> for that to a page of a listed origin
    .send(Readable.from(content.read(), { objectMode: false }))
}

/** Returns the header of RFC 6266, with a plain name for clients that read no other. */
function disposition({ filename }: Pick<MessagePart, 'filename'>): string {
  if (filename === null) return 'attachment'
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  const encoded = encodeURIComponent(filename).replace(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
