import { operations } from '../operation.ts'
import { BuiltInToolList } from '../schemas/tools.ts'

export const builtInTools = operations({
  listBuiltInTools: {
    method: 'get',
    path: '/api/v1/built-in-tools',
    scope: 'management',
    summary: 'Which tools come with the server?',
    responses: { 200: BuiltInToolList },
  },
})
