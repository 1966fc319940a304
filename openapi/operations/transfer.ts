import { operations } from '../operation.ts'
import { Export, Import, ImportResult } from '../schemas/transfer.ts'

export const transfer = operations({
  exportConfiguration: {
    method: 'get',
    path: '/api/v1/export',
    scope: 'management',
    summary: 'A copy of the configuration, without secrets',
    responses: { 200: Export },
  },
  importConfiguration: {
    method: 'post',
    path: '/api/v1/import',
    scope: 'management',
    summary: 'Take in a copy, as JSON or YAML, all or nothing',
    description: 'What cannot be taken in as it stands is listed under `skipped`, with the reason.',
    body: Import,
    alsoConsumes: ['application/yaml'],
    maxBodyBytes: 2 ** 20,
    responses: { 200: ImportResult },
  },
})
