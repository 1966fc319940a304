import Type from 'typebox'
import { operations } from '../operation.ts'
import { oneOf } from '../schemas/basics.ts'
import { UsageReport } from '../schemas/running.ts'

const moment = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

export const usage = operations({
  getUsage: {
    method: 'get',
    path: '/api/v1/usage',
    scope: 'management',
    summary: 'How many tokens were used?',
    description:
      'Of every reply that ended, however it ended, stateless ones and those of deleted sessions included. What is more than a week old is counted by whole hours.',
    query: Type.Object({
      from: moment('ISO 8601 date or time, UTC. Absent: 30 days before `to`.'),
      to: moment('ISO 8601 date or time, UTC, not included. Absent: now.'),
      groupBy: Type.Optional(
        Type.Unsafe({ ...oneOf(['agent', 'model', 'day'], 'What a row stands for.'), default: 'agent' }),
      ),
    }),
    responses: { 200: UsageReport },
  },
})
