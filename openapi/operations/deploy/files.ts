import { operations } from '../../operation.ts'
import { AgentFileForm, FileDeleted, FileForm, FileList, fileQuery, UploadedFile } from '../../schemas/deploy/files.ts'
import { belowOpenai } from './below-openai.ts'

const all = '/api/v1/agents/{agent_id}/deploy/files'
const one = `${all}/{file_id}`
const unknown = 'There is no such file, it has expired, or it is not the caller’s.'
const createErrors = {
  413: 'The file is larger than `MAX_FILE_BYTES`, or its user would have too much or too many.',
  503: 'Too many files are being uploaded, the instance is shutting down, or the database cannot be reached; see `Retry-After`.',
}

export const files = operations({
  createFile: {
    method: 'post',
    path: all,
    scope: 'deploy',
    secret: 'user',
    summary: 'Upload a file',
    form: FileForm,
    responses: { 200: UploadedFile },
    errors: { ...createErrors, 404: 'There is no such agent.' },
  },
  listFiles: {
    method: 'get',
    refusesUnknown: true,
    path: all,
    scope: 'deploy',
    secret: 'user',
    summary: 'List files',
    query: fileQuery,
    responses: { 200: FileList },
    errors: { 404: 'There is no such agent.' },
  },
  getFile: {
    method: 'get',
    path: one,
    scope: 'deploy',
    secret: 'user',
    summary: 'Read about a file',
    responses: { 200: UploadedFile },
    errors: { 404: unknown },
  },
  getFileContent: {
    method: 'get',
    path: `${one}/content`,
    scope: 'deploy',
    secret: 'user',
    summary: 'Read the bytes of a file',
    bytes: true,
    responses: { 200: null },
    errors: { 404: unknown },
  },
  deleteFile: {
    method: 'delete',
    path: one,
    scope: 'deploy',
    secret: 'user',
    summary: 'Delete a file; messages keep the bytes that they were sent with',
    responses: { 200: FileDeleted },
    errors: { 404: unknown },
  },
})

export const agentFiles = operations({
  createAgentFile: {
    ...belowOpenai(files.createFile),
    form: AgentFileForm,
    errors: { ...createErrors, 404: 'No agent is `model`.' },
  },
  listAgentFiles: belowOpenai(files.listFiles),
  getAgentFile: belowOpenai(files.getFile),
  getAgentFileContent: belowOpenai(files.getFileContent),
  deleteAgentFile: belowOpenai(files.deleteFile),
})
