/** Reads a `multipart/form-data` body with one file, as it arrives (contract section 32). */
import type { FastifyRequest } from 'fastify'
import { type FilePurpose, filePurposes } from '../../../../openapi/schemas/deploy/files.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { brokenText } from '../../../http/server/request-body/text.ts'
import { cleanName } from '../../parts/index.ts'

export interface UploadForm<Stored> {
  stored: Stored
  filename: string
  purpose: FilePurpose
  user: string | null
  model: string | null
  /** Seconds. */
  expiresAfter: number | null
  /** The fields that have no meaning here. */
  ignored: Readonly<Record<string, string>>
}

const MOST_FIELDS = 50
const MOST_FIELD_BYTES = 8192

/**
 * Reads the form. `store` is given the file's bytes, and reads them to their end. Throws 400, and what `store` throws.
 */
export async function readForm<Stored>(
  request: FastifyRequest,
  { takesModel }: { takesModel: boolean },
  store: (chunks: AsyncIterable<Uint8Array>, filename: string) => Promise<Stored>,
): Promise<UploadForm<Stored>> {
  if (!request.isMultipart()) throw new HttpError(415, 'The body’s content-type must be multipart/form-data.')
  const fields = new Map<string, string>()
  let file: { stored: Stored; filename: string } | null = null
  const limits = { fileSize: Number.POSITIVE_INFINITY, files: 2, fields: MOST_FIELDS, fieldSize: MOST_FIELD_BYTES }
  for await (const part of unbroken(request.parts({ limits }))) {
    if (part.type === 'file') {
      if (part.fieldname !== 'file') badRequest('file: the file must be sent in the part of this name')
      if (file !== null) badRequest('file: only one file may be sent')
      const filename = cleanName(part.filename ?? '') ?? 'file'
      file = { stored: await store(unbroken(part.file), filename), filename }
      continue
    }
    const { fieldname: name, value } = part
    if (name === 'file') badRequest('file: must be a file')
    if (part.valueTruncated || part.fieldnameTruncated || typeof value !== 'string')
      badRequest('body: a field is too long')
    else if (fields.has(name)) badRequest(`${name}: may be given only once`)
    else fields.set(name, value)
  }
  if (file === null) return badRequest('file: is required')
  return { ...file, ...readFields(fields, takesModel) }
}

/** Turns what the parser finds wrong into 400. What the reader of the items throws stays as it is. */
async function* unbroken<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items
  } catch (error) {
    if (error instanceof HttpError) throw error
    badRequest('body: is not valid multipart/form-data, or not whole')
  }
}

function readFields(fields: Map<string, string>, takesModel: boolean): Omit<UploadForm<never>, 'stored' | 'filename'> {
  const take = (name: string): string | null => {
    const value = fields.get(name) ?? null
    fields.delete(name)
    const fault = value === null ? null : brokenText(value)
    return fault === null ? value : badRequest(`${name}: ${fault}`)
  }
  const given = take('purpose') ?? 'user_data'
  const purpose =
    filePurposes.find((one) => one === given) ?? badRequest(`purpose: must be one of ${filePurposes.join(', ')}`)
  const anchor = take('expires_after[anchor]')
  const seconds = take('expires_after[seconds]')
  if (anchor === null ? seconds !== null : anchor !== 'created_at') {
    badRequest('expires_after[anchor]: must be created_at')
  }
  if (anchor !== null && (seconds === null || !/^\d{4,7}$/.test(seconds) || !isLifetime(Number(seconds)))) {
    badRequest('expires_after[seconds]: must be a whole number from 3600 to 2592000')
  }
  const user = take('user')
  if (user !== null && (user === '' || [...user].length > 200)) badRequest('user: must have 1 to 200 characters')
  const model = takesModel ? take('model') : null
  return {
    purpose,
    user,
    model,
    expiresAfter: seconds === null ? null : Number(seconds),
    ignored: Object.fromEntries(fields),
  }
}

const isLifetime = (seconds: number): boolean => seconds >= 3600 && seconds <= 2_592_000
