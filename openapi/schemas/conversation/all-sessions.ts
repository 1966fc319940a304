/** The sessions of all agents, for operators. */
import Type, { type TObject } from 'typebox'
import { count, id, nullable, objectOrNull, oneOf, page, time } from '../basics.ts'
import { playgroundParent } from './branches.ts'
import { snippetFields } from './snippets.ts'

export const sessionStatuses = ['idle', 'streaming', 'waiting', 'complete', 'error', 'cancelled'] as const

const overview = {
  id: id('Id of the session.'),
  agentId: id('Id of its agent.'),
  agentName: Type.String({ description: "The agent's name." }),
  title: nullable(Type.String({ description: 'Null until it is derived from the first user message.' })),
  user: nullable(Type.String({ description: "The caller's end user. Null when it has none." })),
  status: oneOf(sessionStatuses, 'That of the newest reply; `idle` before the first one.'),
  errorCode: nullable(Type.String({ description: 'How the newest reply failed, or null.' })),
  archived: Type.Boolean({ description: 'Whether the session is marked as archived.' }),
  createdAt: time('When the session was made.'),
  updatedAt: time('When something last happened in it.'),
  parent: playgroundParent,
}
const newestReply = objectOrNull(
  {
    providerId: nullable(id('The provider of its last turn. Null when it is not known.')),
    model: nullable(Type.String({ description: 'The model that it began with.' })),
    httpStatus: nullable(count('The HTTP status with which its provider refused it. Null when none is known.')),
    durationMs: nullable(count('Milliseconds from admission until generation ended. Null while it runs.')),
    tokens: nullable(count('Input and output tokens. Null while it runs.')),
  },
  'The newest reply, with `include=reply`. Null before the first one.',
)
const FoundSnippet = Type.Object(snippetFields({ id: 'messageId', time: 'createdAt' }), { title: 'FoundSnippet' })
const SessionOverview = Type.Object(
  {
    ...overview,
    reply: Type.Optional(newestReply),
    snippets: Type.Optional(
      Type.Array(FoundSnippet, { description: 'With `in=messages`: the newest matching messages, three at most.' }),
    ),
  },
  { title: 'SessionOverview' },
)
export const SessionOverviewEvent = Type.Object(
  { ...overview, queued: count('Messages in its queue.') },
  { title: 'SessionOverviewEvent' },
)
export const SessionOverviewList = Type.Object(
  {
    sessions: Type.Array(SessionOverview),
    total: count('How many sessions there are in all, counted up to 10,000, with `in=messages` up to 1,000.'),
    more: Type.Optional(Type.Boolean({ description: 'True when there are more than `total`, else absent.' })),
    complete: Type.Optional(
      Type.Boolean({
        description: 'With `in=messages`: false while text of before an upgrade is being made searchable.',
      }),
    ),
    limit: count('The limit that was used, after capping.'),
    offset: count('The offset that was used.'),
  },
  { title: 'SessionOverviewList' },
)

/** Added to the description of each filter that has to read messages. */
const amongNewest = ' Looked for in the 10,000 sessions that were updated last, of those that match the rest.'

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

const filters = {
  q: Type.Optional(
    Type.String({
      description:
        'A part of the title, without regard to case, or the beginning of an id; with `in=messages` words and phrases.',
    }),
  ),
  agentId: filter('Only sessions of this agent.'),
  user: filter('Only sessions of this user.'),
  archived: Type.Optional(
    oneOf(['true', 'false'], 'Only sessions that are archived, or are not. All of them by default.'),
  ),
  children: Type.Optional(
    oneOf(['true', 'false'], '`true`: also sessions that a call of another one made. Left out by default.'),
  ),
  parent: filter('Only sessions that calls of this session made.'),
  errorCode: filter('Only sessions whose newest reply failed with this code.'),
  from: filter('Only sessions that were updated from this time on, ISO 8601.'),
  to: filter('Only sessions that were updated before this time, ISO 8601.'),
  providerId: filter(`Only sessions whose newest reply is of this provider.${amongNewest}`),
  httpStatus: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description: `Only sessions whose newest reply was refused by its provider with this HTTP status.${amongNewest}`,
    }),
  ),
  feedback: Type.Optional(
    oneOf(['up', 'down', 'any'], 'Only sessions with a message that has such feedback, whoever gave it.'),
  ),
  text: filter(`Only sessions with a stored message that contains this text, without regard to case.${amongNewest}`),
}

export const sessionOverviewPage: TObject = Type.Object({
  ...page.properties,
  ...filters,
  status: Type.Optional(oneOf(sessionStatuses, 'Only sessions whose newest reply has this status.')),
  in: Type.Optional(
    oneOf(
      ['titles', 'messages'],
      'Where `q` is looked for. `messages`: in their text, as the deploy search does, the session with the newest match first; `q` is required then. `titles` by default.',
    ),
  ),
  include: Type.Optional(oneOf(['reply'], '`reply`: adds the newest reply to each session.')),
})

export const sessionCountFilters: TObject = Type.Object(filters)
const counted = count('Counted up to 10,000.')
export const SessionCounts = Type.Object(
  { idle: counted, streaming: counted, waiting: counted, complete: counted, error: counted, cancelled: counted },
  { title: 'SessionCounts', description: 'How many sessions have each status.' },
)
