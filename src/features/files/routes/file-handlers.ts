/** Files that are uploaded, read and deleted (contract section 32). */
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { sendContent } from '../../parts/index.ts'
import { agentsOf, type Caller, type DeployHandlers, userOf } from '../../users/index.ts'
import {
  deleteFile,
  deleteFilesOf,
  filesOf,
  findFile,
  listFiles,
  type Reach,
  readFile,
  type StoredFile,
} from '../store/files.ts'
import { fileIdOf, fileUuidIn } from './file-ids.ts'
import { type UploadDependencies, upload } from './upload.ts'
import { createUploadSlots } from './uploads-under-way.ts'

/** Reads the bodies of uploads in this scope. */
export const takeForms = (scope: FastifyInstance) => scope.register(multipart)

/** Returns a file as the deploy API shows it. */
export const wireFile = (file: StoredFile) => ({
  id: fileIdOf(file.id),
  object: 'file' as const,
  bytes: file.size,
  created_at: file.created,
  expires_at: file.expires,
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed' as const,
  media_type: file.mediaType,
  user: file.user,
})

interface FileQuery {
  purpose?: string | undefined
  user?: string | undefined
  limit: number
  after?: string | undefined
  order: string
}

async function list(sql: Sql, reach: Reach, { purpose, user, limit, after, order }: FileQuery) {
  const cursor = after === undefined ? null : (fileUuidIn(after) ?? badRequest('after: there is no such file'))
  const page = { purpose: purpose ?? null, user: user ?? null, after: cursor, limit }
  const found =
    (await listFiles(sql, reach, { ...page, order: order === 'asc' ? 'asc' : 'desc' })) ??
    badRequest('after: there is no such file')
  const data = found.slice(0, limit).map(wireFile)
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}

async function find(sql: Sql, id: string, reach: Reach): Promise<StoredFile> {
  const uuid = fileUuidIn(id)
  return (uuid === null ? null : await findFile(sql, uuid, reach)) ?? missing('file')
}

async function remove(sql: Sql, id: string, reach: Reach) {
  const file = await find(sql, id, reach)
  if (!(await deleteFile(sql, file.id, reach))) missing('file')
  return { id: fileIdOf(file.id), object: 'file' as const, deleted: true as const }
}

/** Returns what a caller reaches of an agent's files. Below an id that is none there is nothing. */
const ofAgent = ({ agent_id }: { agent_id: string }, caller: Caller): Reach => ({
  agentIds: isUuid(agent_id) ? [agent_id] : [],
  user: userOf(caller),
})

/** Returns what a caller reaches below `/api/v1/openai`: files of no agent with a key of all agents alone. */
const ofCaller = (caller: Caller): Reach => ({ agentIds: agentsOf(caller), user: userOf(caller) })

/** Makes the handlers of both places. Uploads under way count together. */
export function fileHandlers(given: UploadDependencies) {
  const deps = { ...given, slots: createUploadSlots() }
  const { sql } = deps
  const knownAgent = async (id: string) => (isUuid(id) ? await findAgent(sql, id) : null) ?? missing('agent')
  const send = async (id: string, reach: Reach, reply: FastifyReply) => {
    const file = await find(sql, id, reach)
    await sendContent(reply, { ...file, read: () => readFile(sql, file) })
  }
  const ofAgents = {
    createFile: async ({ params, ...exchange }) => {
      const { id } = await knownAgent(params.agent_id)
      return wireFile(await upload(deps, id, exchange))
    },
    listFiles: async ({ params, query, caller }) => {
      await knownAgent(params.agent_id)
      return await list(sql, ofAgent(params, caller), query)
    },
    getFile: async ({ params, caller }) => wireFile(await find(sql, params.file_id, ofAgent(params, caller))),
    getFileContent: ({ params, caller, reply }) => send(params.file_id, ofAgent(params, caller), reply),
    deleteFile: ({ params, caller }) => remove(sql, params.file_id, ofAgent(params, caller)),
  } satisfies DeployHandlers<'files'>
  const ofAll = {
    createAgentFile: async (exchange) => wireFile(await upload(deps, null, exchange)),
    listAgentFiles: ({ query, caller }) => list(sql, ofCaller(caller), query),
    getAgentFile: async ({ params, caller }) => wireFile(await find(sql, params.file_id, ofCaller(caller))),
    getAgentFileContent: ({ params, caller, reply }) => send(params.file_id, ofCaller(caller), reply),
    deleteAgentFile: ({ params, caller }) => remove(sql, params.file_id, ofCaller(caller)),
  } satisfies DeployHandlers<'agentFiles'>
  return { ofAgents, ofAll }
}

/** Returns what a user's export and deletion do with files. */
export const userFiles = (sql: Sql) => ({
  list: async (agentId: string, user: string) => (await filesOf(sql, agentId, user)).map(wireFile),
  delete: (agentId: string, user: string) => deleteFilesOf(sql, agentId, user),
})
