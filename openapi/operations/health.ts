import { operations } from '../operation.ts'
import { Live, Ready } from '../schemas/running.ts'

export const health = operations({
  getLive: {
    method: 'get',
    path: '/livez',
    scope: 'health',
    summary: 'Is the server running?',
    responses: { 200: Live },
  },
  getReady: {
    method: 'get',
    path: '/readyz',
    scope: 'health',
    summary: 'Does the server take new work?',
    description: 'The database down, its disk full, or a shutdown under way: 503, with the same body and `message`.',
    responses: { 200: Ready },
  },
})
