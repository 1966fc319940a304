import Type from 'typebox'
import { operations } from '../../operation.ts'
import { oneOf } from '../../schemas/basics.ts'
import { UsageReport } from '../../schemas/operators/running.ts'
import { UsageFigures } from '../../schemas/operators/usage-figures.ts'

const moment = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))
const period = {
  from: moment('ISO 8601 date or time, UTC. 30 days before `to` by default.'),
  to: moment('ISO 8601 date or time, UTC, exclusive. Now by default.'),
}

export const usage = operations({
  getUsage: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/usage',
    scope: 'management',
    role: 'viewer',
    summary: 'Read token usage',
    description:
      'Counts every reply that has ended, in any way, including stateless ones and those of deleted sessions. Usage more than a week old is counted by whole hours.',
    query: Type.Object({
      ...period,
      groupBy: Type.Optional(
        Type.Unsafe({ ...oneOf(['agent', 'model', 'day', 'version'], 'What each row aggregates.'), default: 'agent' }),
      ),
      agentId: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'The agent whose versions are aggregated: with `groupBy=version` alone.',
        }),
      ),
    }),
    responses: { 200: UsageReport },
  },
  getUsageFigures: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/usage/figures',
    scope: 'management',
    role: 'viewer',
    summary: 'Read how long replies took, how many failed, and what they cost',
    query: Type.Object({
      ...period,
      groupBy: Type.Optional(
        Type.Unsafe({ ...oneOf(['agent', 'model', 'hour'], 'What each row aggregates.'), default: 'agent' }),
      ),
    }),
    responses: { 200: UsageFigures },
  },
})
