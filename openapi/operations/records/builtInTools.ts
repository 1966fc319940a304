import { operations } from '../../operation.ts'
import { BuiltInToolList } from '../../schemas/records/tools.ts'

export const builtInTools = operations({
  listBuiltInTools: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/built-in-tools',
    scope: 'management',
    role: 'viewer',
    summary: 'List built-in tools',
    responses: { 200: BuiltInToolList },
  },
})
