/** Takes a file (contract section 32). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nameIgnored } from '../../../http/sending/answer-fields.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { LATE } from '../../../http/server/request-body/incoming-body.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readContent } from '../../../persistence/replies/reading/part-rows.ts'
import { addText, convertDocument, releaseContents } from '../../parts/index.ts'
import { agentsOf, type Caller, callerName, userOf } from '../../users/index.ts'
import { addFile, type FileRefusal, findFile, type StoredFile } from '../store/files.ts'
import { type StreamedContent, storeStream } from '../store/streamed-content.ts'
import { createTypeReader } from './content-type.ts'
import { readForm, type UploadForm } from './upload-form.ts'
import type { UploadSlots } from './uploads-under-way.ts'

export interface UploadDependencies {
  sql: Sql
  host: { draining(): boolean }
  storage: { userBytes: number | null }
  fileLimits: { fileBytes: number; userFileBytes: number }
  /** Returns the id of the agent that `model` names. Throws 400 and 404. */
  agentNamed(sql: Sql, model: string, caller: Caller): Promise<string>
}

export interface UploadExchange {
  caller: Caller
  request: FastifyRequest
  reply: FastifyReply
}

const refusals: Readonly<Record<FileRefusal, string>> = {
  too_many_files: 'A user has at most 1,000 files with an agent.',
  files_full: 'The files of this user would hold more than MAX_USER_FILE_BYTES allows.',
  user_full: 'The sessions and files of this user would hold more than MAX_USER_BYTES allows.',
}

/** Takes an upload for an agent, or for that which the form names. */
export async function upload(
  deps: UploadDependencies & { slots: UploadSlots },
  agentId: string | null,
  exchange: UploadExchange,
): Promise<StoredFile> {
  const { caller, request } = exchange
  if (deps.host.draining()) throw new HttpError(503, 'The instance is shutting down.', { 'retry-after': '2' })
  const release = deps.slots.take(caller.kind === 'secret' ? callerName(caller) : null)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const onLate = () => reject(new HttpError(408, 'The request did not arrive in time.'))
  request.raw.once(LATE, onLate)
  // An upload that is late has its place until its connection is closed.
  const stored = receive(deps, agentId, exchange).finally(release)
  try {
    return await Promise.race([stored, late])
  } finally {
    request.raw.off(LATE, onLate)
  }
}

type Received = StreamedContent & { mediaType: string }

async function receive(
  deps: UploadDependencies,
  agentId: string | null,
  { caller, request, reply }: UploadExchange,
): Promise<StoredFile> {
  const { sql, fileLimits } = deps
  const id = crypto.randomUUID()
  try {
    const form = await readForm(request, { takesModel: agentId === null }, (chunks, filename) =>
      receiveBytes(sql, id, { chunks, filename, mostBytes: fileLimits.fileBytes, of: callerName(caller) }),
    )
    nameIgnored(reply, form.ignored, new Set())
    const owner = { agentId: agentId ?? (await agentOf(deps, form, caller)), user: ownerOf(form, caller) }
    if (owner.agentId === null && owner.user !== null) badRequest('user: needs model, which names the agent')
    const { stored, filename, purpose, expiresAfter } = form
    const file = { id, ...owner, filename, purpose, mediaType: stored.mediaType, content: stored, expiresAfter }
    const isCounted = owner.user !== null || caller.kind === 'anyone'
    const limits = { fileBytes: fileLimits.userFileBytes, userBytes: deps.storage.userBytes }
    const refusal = await addFile(sql, file, isCounted ? limits : null)
    if (refusal !== null) throw new HttpError(413, refusals[refusal], { 'x-should-retry': 'false' })
  } finally {
    await releaseContents(sql, id)
  }
  const added = await findFile(sql, id, { agentIds: null, user: null })
  return added ?? badRequest('file: was deleted meanwhile')
}

interface Arriving {
  chunks: AsyncIterable<Uint8Array>
  filename: string
  mostBytes: number
  /** The name of who sends it. */
  of: string
}

async function receiveBytes(
  sql: Sql,
  uploadId: string,
  { chunks, filename, mostBytes, of }: Arriving,
): Promise<Received> {
  const type = createTypeReader()
  const content = await storeStream(sql, uploadId, watched(chunks, { mostBytes, see: type.write }))
  if (content.size === 0) badRequest('file: is empty')
  const mediaType = type.mayBeDocument() ? await readDocument(sql, content, of) : await type.end(filename)
  return { ...content, mediaType: mediaType ?? badRequest(`file: must be ${TAKEN}`) }
}

const TAKEN =
  'PNG, JPEG, WebP, GIF, PDF, a Word (.docx) or Excel (.xlsx) document, or text in UTF-8 (such as CSV and Markdown)'

/** Stores the text of a document whose bytes are stored. Returns its type, null for another archive. Throws 400. */
async function readDocument(sql: Sql, { key, size }: StreamedContent, of: string): Promise<string | null> {
  const converted = await convertDocument({ size, chunks: readContent(sql, key), of })
  if (converted === 'other') return null
  if ('fault' in converted) return badRequest(`file: ${converted.fault}`)
  await addText(sql, key, converted.text)
  return converted.mediaType
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  { mostBytes, see }: { mostBytes: number; see(chunk: Uint8Array): void },
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > mostBytes) throw new HttpError(413, 'The file is larger than MAX_FILE_BYTES allows.')
    see(chunk)
    yield chunk
  }
}

/** Returns the agent of an upload below `/api/v1/openai`. Null: the file belongs to none. */
async function agentOf(
  { sql, agentNamed }: UploadDependencies,
  { model }: UploadForm<unknown>,
  caller: Caller,
): Promise<string | null> {
  if (model !== null) return await agentNamed(sql, model, caller)
  const agentIds = agentsOf(caller)
  if (agentIds === null) return null
  const [only, another] = agentIds
  if (only !== undefined && another === undefined) return only
  return badRequest('model: is required, since the key is of several agents')
}

function ownerOf({ user }: UploadForm<unknown>, caller: Caller): string | null {
  const own = userOf(caller)
  if (own !== null && user !== null && user !== own) {
    throw new HttpError(403, 'user: a client secret uploads for its own user')
  }
  return own ?? user
}
