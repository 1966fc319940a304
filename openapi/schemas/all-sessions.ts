/** The sessions of all agents, for operators. */
import Type, { type TObject } from 'typebox'
import { count, id, nullable, oneOf, page, time } from './basics.ts'

export const sessionStatuses = ['idle', 'streaming', 'waiting', 'complete', 'error', 'cancelled'] as const

const overview = {
  id: id('Id of the session.'),
  agentId: id('Id of its agent.'),
  agentName: Type.String({ description: "The agent's name." }),
  title: nullable(Type.String({ description: 'Null until it is derived from the first user message.' })),
  user: nullable(Type.String({ description: "The caller's end user. Null when it has none." })),
  status: oneOf(sessionStatuses, 'That of the newest reply; `idle` before the first one.'),
  errorCode: nullable(Type.String({ description: 'How the newest reply failed, or null.' })),
  createdAt: time('When the session was made.'),
  updatedAt: time('When something last happened in it.'),
}
const SessionOverview = Type.Object(overview, { title: 'SessionOverview' })
export const SessionOverviewEvent = Type.Object(
  { ...overview, queued: count('Messages in its queue.') },
  { title: 'SessionOverviewEvent' },
)
export const SessionOverviewList = Type.Object(
  {
    sessions: Type.Array(SessionOverview),
    total: count('How many sessions there are in all, counted up to 10,000.'),
    more: Type.Optional(Type.Boolean({ description: 'True when there are more than `total`, else absent.' })),
    limit: count('The limit that was used, after capping.'),
    offset: count('The offset that was used.'),
  },
  { title: 'SessionOverviewList' },
)

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

export const sessionOverviewPage: TObject = Type.Object({
  ...page.properties,
  q: Type.Optional(
    Type.String({ description: 'A part of the title, without regard to case, or the beginning of an id.' }),
  ),
  agentId: filter('Only sessions of this agent.'),
  user: filter('Only sessions of this user.'),
  status: Type.Optional(oneOf(sessionStatuses, 'Only sessions whose newest reply has this status.')),
  errorCode: filter('Only sessions whose newest reply failed with this code.'),
})
