/** Sessions of the deploy API: the record, the bodies that create and change it, and the filters of lists. */
import Type, { type TObject } from 'typebox'
import { documented } from '../../documented.ts'
import { count, id, listOf, name, nullable, oneOf, page, time } from '../basics.ts'
import { givenPin, pin } from '../records/drafts.ts'
import { pending } from './actions.ts'
import { sessionStatuses } from './all-sessions.ts'
import { branches, deployForkedFrom, deployForkOf, deployParent, headId, playgroundForkOf } from './branches.ts'
import { ChatMessage } from './chat.ts'

export const metadata = Type.Unsafe({
  type: 'object',
  maxProperties: 16,
  propertyNames: { minLength: 1, maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 512 },
  description: 'Notes of the caller: up to 16 names of 1 to 64 characters, with strings of up to 512.',
})

export const deploySession = {
  id: id('Id of the session.'),
  agent_id: id('Id of its agent.'),
  title: nullable(name('Null until it is derived from the first user message.')),
  user: nullable(name("The caller's end user. Null when it has none.")),
  metadata,
  external_id: nullable(
    Type.String({
      description: 'The id by which a front end made it, where that is no UUID. Null when it has none.',
    }),
  ),
  agent_version: pin,
  archived: Type.Boolean({ description: 'Set by a change alone; lists contain archived sessions too.' }),
  pending,
  head_id: headId,
  forked_from: deployForkedFrom,
  parent: deployParent,
  created_at: time('When the session was created.'),
  updated_at: time('When a message came or its reply ended, or the session was changed.'),
}
export const DeploySession = Type.Object(deploySession, { title: 'DeploySession' })
export const DeploySessionEvent = Type.Object(
  {
    ...deploySession,
    status: oneOf(sessionStatuses, 'That of the newest reply; `idle` before the first one.'),
    queued: count('Messages in its queue.'),
  },
  { title: 'DeploySessionEvent' },
)
export const SessionGone = Type.Object(
  { id: id('Id of the session.'), deleted: Type.Literal(true) },
  { title: 'SessionGone' },
)
export const DeploySessionList = listOf('DeploySessionList', 'sessions', DeploySessionEvent)

const given = {
  title: Type.Optional(nullable(name('Absent or null: derived from the first user message.'))),
  user: Type.Optional(nullable(name("Whose session it is, as your own system names them. Absent or null: nobody's."))),
  metadata: Type.Optional(nullable(metadata)),
}
export const PlaygroundSessionCreate = Type.Object(
  { ...given, agentVersion: givenPin, forkOf: playgroundForkOf },
  { title: 'PlaygroundSessionCreate' },
)
export const SessionCreate = Type.Object(
  {
    ...given,
    agent_version: givenPin,
    fork_of: deployForkOf,
    id: Type.Optional(
      nullable(
        Type.String({
          description: 'A UUID of your own, in lower case from then on. Taken, by whatever agent: 409.',
          ...documented({ format: 'uuid' }),
        }),
      ),
    ),
    external_id: Type.Optional(
      nullable(
        Type.String({
          description:
            'The id by which a front end knows the session: 1 to 200 characters, no UUID. Another session of this agent and user has it: 409.',
        }),
      ),
    ),
    messages: Type.Optional(
      nullable(
        Type.Array(ChatMessage, {
          maxItems: 1000,
          description:
            'A history to begin with, oldest first. Stored as complete messages; it has no frames, so that the stream of the session stays 204 until its first own reply.',
        }),
      ),
    ),
  },
  { title: 'SessionCreate' },
)
export const changedTitle = nullable(
  name('When null, it is derived again from the first user message, once there is one.'),
)
/** The session's mark, and nothing else of it. */
export const archivedChange = Type.Optional(
  Type.Boolean({ description: 'Marks the session as archived, or not. It does not count as an update in lists.' }),
)
export const SessionChange = Type.Object(
  {
    title: Type.Optional(changedTitle),
    metadata: Type.Optional(nullable(metadata)),
    agent_version: givenPin,
    archived: archivedChange,
  },
  { title: 'SessionChange', description: 'What is absent stays. `metadata` is replaced as a whole; null empties it.' },
)

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

/** The filter of every list of sessions by the mark that a change sets. */
export const archivedFilter = Type.Optional(
  oneOf(['true', 'false'], 'Only sessions that are archived, or are not. All of them by default.'),
)

/** The parameters of every list of an agent's sessions. */
const childrenFilter = Type.Optional(
  oneOf(
    ['true', 'false'],
    '`false`: without sessions that a call of another one made; the default for a client secret.',
  ),
)
export const sessionFilters = {
  archived: archivedFilter,
  children: childrenFilter,
  user: filter('Only sessions of this user.'),
  metadata: Type.Optional(
    Type.Unsafe({
      type: 'object',
      propertyNames: { minLength: 1 },
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'Only sessions with this value under this name: `metadata[name]=value`. Several: all must hold.',
    }),
  ),
}
export const lastEvent = Type.Optional(
  Type.String({ description: 'As the header Last-Event-ID, which wins. From now on by default.' }),
)
export const sessionStream: TObject = Type.Object({
  user: sessionFilters.user,
  children: sessionFilters.children,
  last_event_id: lastEvent,
})
export const sessionPage: TObject = Type.Object({
  ...page.properties,
  ...sessionFilters,
  external_id: filter('Only the session of each user that a front end knows by this id.'),
  q: filter('Only sessions whose title contains this text, without regard to case.'),
})

const cursor = (description: string) => Type.Optional(Type.String({ description }))
export const messagePage: TObject = Type.Object({
  branches,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'How many messages at most. All of them by default.' }),
  ),
  after: cursor('Id of a message: only those after it, the nearest first. Not together with `before`.'),
  before: cursor('Id of a message: only those before it; with `limit` the nearest ones.'),
})
