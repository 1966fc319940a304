import { operations } from '../../operation.ts'
import { Live, Ready } from '../../schemas/operators/running.ts'

export const health = operations({
  getLive: {
    method: 'get',
    path: '/livez',
    scope: 'health',
    summary: 'Liveness: whether the server is running',
    responses: { 200: Live },
  },
  getReady: {
    method: 'get',
    path: '/readyz',
    scope: 'health',
    summary: 'Readiness: whether the server accepts new work',
    description:
      '503, with the same body and `message`, when the database is down, its disk is full, or a shutdown is in progress.',
    responses: { 200: Ready },
  },
})
