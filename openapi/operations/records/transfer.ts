import Type from 'typebox'
import { operations } from '../../operation.ts'
import { oneOf } from '../../schemas/basics.ts'
import { Export, Import, ImportResult } from '../../schemas/records/transfer.ts'

export const transfer = operations({
  exportConfiguration: {
    method: 'get',
    pieces: true,
    path: '/api/v1/export',
    scope: 'management',
    role: 'admin',
    summary: 'Export the configuration, without secrets',
    responses: { 200: Export },
  },
  importConfiguration: {
    method: 'post',
    path: '/api/v1/import',
    scope: 'management',
    role: 'admin',
    summary: 'Import a configuration, as JSON or YAML, all or nothing',
    description: 'Records that cannot be imported are listed under `skipped`, with the reason.',
    query: Type.Object({
      draft: Type.Optional(
        oneOf(
          ['true', 'false'],
          'With `true` only drafts of agents that are here are changed, for somebody to publish.',
        ),
      ),
    }),
    body: Import,
    alsoConsumes: ['application/yaml'],
    maxBodyBytes: 2 ** 20,
    responses: { 200: ImportResult },
  },
})
