import Type from 'typebox'
import { operations } from '../../operation.ts'
import {
  SessionCounts,
  SessionOverviewEvent,
  SessionOverviewList,
  sessionCountFilters,
  sessionOverviewPage,
} from '../../schemas/conversation/all-sessions.ts'
import { lastEvent, SessionGone, sessionFilters } from '../../schemas/conversation/sessions.ts'

export const allSessions = operations({
  listAllSessions: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/sessions',
    scope: 'management',
    role: 'editor',
    summary: 'List the sessions of all agents, most recently updated first',
    query: sessionOverviewPage,
    responses: { 200: SessionOverviewList },
    errors: {
      503: 'With `in=messages`: other searches are running (see `Retry-After`), or this one took too long: ask for more words, or a `user`.',
    },
  },
  countAllSessions: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/sessions/counts',
    scope: 'management',
    role: 'editor',
    summary: 'Count the sessions of all agents by status',
    query: sessionCountFilters,
    responses: { 200: SessionCounts },
  },
  streamAllSessions: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/sessions/stream',
    scope: 'management',
    role: 'editor',
    summary: 'Follow the sessions of all agents',
    description: 'As the stream of an agent’s sessions, with records of this list.',
    query: Type.Object({ last_event_id: lastEvent, children: sessionFilters.children }),
    headers: { 'Last-Event-ID': 'The last id received. From now on by default.' },
    streams: 'only',
    events: [SessionOverviewEvent, SessionGone],
    responses: { 200: null },
    errors: { 503: 'Sessions are being written for long: try again.' },
  },
})
