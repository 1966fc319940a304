import { operations } from '../operation.ts'
import { SessionOverviewList, sessionOverviewPage } from '../schemas/all-sessions.ts'

export const allSessions = operations({
  listAllSessions: {
    method: 'get',
    path: '/api/v1/sessions',
    scope: 'management',
    summary: 'List the sessions of all agents, most recently updated first',
    query: sessionOverviewPage,
    responses: { 200: SessionOverviewList },
  },
})
