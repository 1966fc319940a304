/** The texts of documents that a request brings, each content converted once (contract section 32). */
import { badRequest } from '../../../http/server/http-error.ts'
import { convertDocument } from '../documents/convert.ts'
import { isDocument } from '../documents/document-types.ts'
import type { LoadedPart } from './prepare.ts'

/** The text of a document. `bytes` are absent where it is stored already. */
export interface DocumentText {
  size: number
  bytes?: Buffer
}

/** Returns whether the part is a document whose bytes came with the request. */
export const bringsDocument = ({ part, mediaType }: LoadedPart): boolean =>
  part.source.kind === 'data' && isDocument(mediaType)

/**
 * Returns the texts by the documents' SHA-256. `of`: who brings them. `known`: the sizes of those that are stored.
 * Throws 400.
 */
export async function documentTexts(
  loaded: readonly LoadedPart[],
  of: string,
  known: ReadonlyMap<string, number> = new Map(),
): Promise<ReadonlyMap<string, DocumentText>> {
  const texts = new Map<string, DocumentText>([...known].map(([sha256, size]) => [sha256, { size }]))
  for (const one of loaded.filter(bringsDocument)) {
    const { data, mediaType, part } = one
    if (texts.has(data.sha256)) continue
    const converted = await convertDocument({ size: data.size, chunks: data.pieces, of })
    if (converted === 'other') return badRequest(`${part.where}: is not ${mediaType}`)
    if ('fault' in converted) return badRequest(`${part.where}: ${converted.fault}`)
    if (converted.mediaType !== mediaType) badRequest(`${part.where}: is ${converted.mediaType}`)
    texts.set(data.sha256, { size: converted.text.length, bytes: converted.text })
  }
  return texts
}
