import { operations } from '../../operation.ts'
import { Export, exportQuery, Import, ImportResult, importQuery } from '../../schemas/records/transfer.ts'

export const transfer = operations({
  exportConfiguration: {
    method: 'get',
    pieces: true,
    path: '/api/v1/export',
    scope: 'management',
    role: 'admin',
    summary: 'Export the configuration, without secrets',
    refusesUnknown: true,
    query: exportQuery,
    responses: { 200: Export },
  },
  importConfiguration: {
    method: 'post',
    path: '/api/v1/import',
    scope: 'management',
    role: 'admin',
    summary: 'Import a configuration, as JSON or YAML, all or nothing',
    description: 'Records that cannot be imported are listed under `skipped`, with the reason.',
    query: importQuery,
    body: Import,
    alsoConsumes: ['application/yaml'],
    maxBodyBytes: 2 ** 20,
    responses: { 200: ImportResult },
  },
})
