import Type from 'typebox'
import { operations } from '../../operation.ts'
import { oneOf, page } from '../../schemas/basics.ts'
import {
  Chart,
  ChartTraffic,
  chartFormats,
  Found,
  LiveActors,
  MachineConfig,
  SessionReaders,
  SessionTransition,
  SessionTransitionList,
  stepKinds,
} from '../../schemas/operators/running.ts'

const session = '/api/v1/debug/sessions/{id}/transitions'
const unknown = 'There is no such session.'
const kind = Type.Optional(oneOf(stepKinds, 'Only these. All by default.'))

export const debug = operations({
  getChart: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/debug/chart',
    scope: 'management',
    role: 'viewer',
    summary: 'The state chart of a session, as data',
    description: '`mermaid` is a `stateDiagram-v2` as plain text, `xstate` a configuration for `createMachine`.',
    query: Type.Object({
      format: Type.Optional(oneOf(chartFormats, 'For which reader. `data` by default.')),
    }),
    text: true,
    responses: { 200: Type.Union([Chart, MachineConfig]) },
  },
  getChartTraffic: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/debug/chart/traffic',
    scope: 'management',
    role: 'editor',
    summary: 'How often each transition was taken, and how long states lasted',
    query: Type.Object({
      hours: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 168, default: 24, description: 'How far back to look, in hours.' }),
      ),
    }),
    responses: { 200: ChartTraffic },
  },
  listSessionTransitions: {
    method: 'get',
    refusesUnknown: true,
    path: session,
    scope: 'management',
    shows: 'id',
    role: 'editor',
    summary: 'List all transitions of a session, oldest first',
    query: Type.Object({ ...page.properties, kind }),
    responses: { 200: SessionTransitionList },
    errors: { 404: unknown },
  },
  streamSessionTransitions: {
    method: 'get',
    path: `${session}/stream`,
    scope: 'management',
    shows: 'id',
    role: 'editor',
    summary: 'Follow the transitions of a session',
    description: 'Each frame holds a `SessionTransition`; its id is `seq`.',
    headers: { 'Last-Event-ID': 'The last `seq` received. From the beginning by default.' },
    query: Type.Object({ kind }),
    streams: 'only',
    events: [SessionTransition],
    responses: { 200: null },
    errors: { 404: unknown },
  },
  listSessionReaders: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/debug/sessions/{id}/readers',
    scope: 'management',
    role: 'editor',
    summary: 'Who runs a session, and through which instances it is read',
    responses: { 200: SessionReaders },
    errors: { 404: unknown },
  },
  findById: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/debug/find',
    scope: 'management',
    role: 'editor',
    summary: 'Find a session or a reply by an id out of a log',
    description:
      'The id of a session, of a reply, or of the request that began a reply (`x-request-id`). A request is looked for among the 50,000 records of steps that were stored last.',
    query: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128, description: 'The whole id.' }) }),
    responses: { 200: Found },
    errors: { 404: 'Nothing has this id.' },
  },
  listLiveActors: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/debug/actors',
    scope: 'management',
    role: 'editor',
    summary: 'The live session actors of all instances',
    responses: { 200: LiveActors },
  },
})
