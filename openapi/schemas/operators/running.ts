/** Health, login, and operators' views. */
import Type from 'typebox'
import { roles } from '../../operation.ts'
import { count, freeObject, id, listOf, nullable, oneOf, time } from '../basics.ts'

export const Live = Type.Object({ status: oneOf(['ok'], 'The server runs.') }, { title: 'Live' })
export const Ready = Type.Object(
  {
    status: oneOf(['ready', 'not_ready'], 'Whether new work is accepted.'),
    checks: Type.Object({
      database: oneOf(['ok', 'down'], 'Down, or its disk is full: 503.'),
      cache: oneOf(['ok', 'disabled', 'degraded'], 'Degraded stays 200: PostgreSQL alone is enough.'),
      clock: Type.Optional(oneOf(['off'], "Only where it differs from the database's by more than 30 s; stays 200.")),
    }),
    message: Type.Optional(Type.String({ description: 'The reason, with 503.' })),
  },
  { title: 'Ready' },
)

export const AuthStatus = Type.Object(
  {
    authRequired: Type.Boolean(),
    authenticated: Type.Boolean(),
    methods: Type.Array(oneOf(['password', 'oidc'], 'A means to log in.'), {
      description: 'Empty when no login is required.',
    }),
    oidcUrl: nullable(
      Type.String({ description: 'Where a browser begins the sign-in by OpenID Connect. Null without.' }),
    ),
  },
  { title: 'AuthStatus' },
)
export const LoginRequest = Type.Object(
  { username: Type.String(), password: Type.String({ format: 'password' }) },
  { title: 'LoginRequest' },
)
export const LoggedIn = Type.Object({ username: Type.String() }, { title: 'LoggedIn' })
export const CurrentUser = Type.Object(
  {
    username: nullable(Type.String({ description: 'Null for a key, and when no login is required.' })),
    role: nullable(oneOf(roles, 'What may be done. Null for a key without a role.')),
    method: nullable(oneOf(['password', 'oidc'], 'How the person logged in. Null without a login.')),
  },
  { title: 'CurrentUser' },
)

export const LoggedOut = Type.Object(
  { logoutUrl: Type.String({ description: 'Where the browser signs out at the identity provider.' }) },
  { title: 'LoggedOut' },
)

export const Chart = Type.Object(
  {
    id: Type.String(),
    initial: Type.String({ description: 'Id of the first state.' }),
    states: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Its path, such as `streaming.settling`.' }),
          kind: Type.String({ description: '`atomic`, `compound`, `parallel`, `final` or `history`.' }),
          description: Type.String(),
          parent: nullable(Type.String({ description: 'Id of the enclosing state.' })),
        },
        { title: 'ChartState' },
      ),
    ),
    transitions: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          source: Type.String({ description: 'Id of a state.' }),
          target: Type.String({ description: 'Id of a state.' }),
          event: Type.String(),
          description: Type.String(),
        },
        { title: 'ChartTransition' },
      ),
    ),
  },
  { title: 'Chart', description: 'The state chart of a session, derived from the running machine.' },
)

export const MachineConfig = Type.Object(
  {
    id: Type.String(),
    context: freeObject('As it is at first.'),
    initial: Type.String(),
    states: freeObject('As XState has them: `on`, `invoke`, `states`, with guards and actions by their names.'),
  },
  {
    title: 'MachineConfig',
    description: 'The state machine of a session, as XState reads it.',
  },
)

export const chartFormats = ['data', 'mermaid', 'xstate'] as const

export const stepKinds = ['transition', 'note'] as const

export const SessionTransition = Type.Object(
  {
    seq: Type.Integer({ description: 'Increases with every transition; the `id:` of its event in the stream.' }),
    at: time('When the transition was made.'),
    from: Type.String({ description: 'Id of the innermost state.' }),
    to: Type.String({ description: 'Id of the innermost state.' }),
    event: Type.String(),
    messageId: nullable(id('The reply it concerns.')),
    instanceId: id('The instance that made it.'),
    detail: freeObject('Codes and counts, never content.'),
    kind: oneOf(stepKinds, 'A note tells what happened within a state: an attempt, a model turn, a tool call.'),
  },
  { title: 'SessionTransition' },
)
export const SessionTransitionList = listOf('SessionTransitionList', 'transitions', SessionTransition)

const milliseconds = (description: string) =>
  nullable(Type.Number({ minimum: 0, description: `${description} Milliseconds; null without a visit.` }))
export const ChartTraffic = Type.Object(
  {
    since: time('Start of the period.'),
    transitions: Type.Array(
      Type.Object({
        id: Type.String({ description: 'As in the chart.' }),
        source: Type.String(),
        target: Type.String(),
        event: Type.String(),
        count: count('How often it was taken.'),
      }),
    ),
    states: Type.Array(
      Type.Object({
        id: Type.String({ description: 'As in the chart.' }),
        visits: count('How often it was entered.'),
        p50Ms: milliseconds('Half of the visits were shorter.'),
        p95Ms: milliseconds('95 of 100 visits were shorter.'),
      }),
    ),
  },
  { title: 'ChartTraffic' },
)

const patience = {
  silenceLimitMs: Type.Number({
    minimum: 0,
    description: 'A provider that sends nothing for so many milliseconds is given up.',
  }),
  replyLimitMs: Type.Number({ minimum: 0, description: 'A reply that lasts so long is given up. Milliseconds.' }),
}

export const Found = Type.Object(
  {
    agentId: id('Its agent.'),
    sessionId: id('The session.'),
    messageId: nullable(id('The reply. Null where a session was found.')),
  },
  { title: 'Found' },
)

export const LiveActors = Type.Object(
  {
    actors: Type.Array(
      Type.Object(
        {
          sessionId: id('Id of the session.'),
          agentId: id('Id of its agent.'),
          instanceId: id('The instance on which it runs.'),
          state: Type.String({ description: 'Id of the innermost state.' }),
          since: time('When it entered that state.'),
          subscribers: count('Number of streams that follow it there.'),
          newestAt: nullable(time('When the newest frame of its reply was stored. Null when no reply runs.')),
        },
        { title: 'LiveActor' },
      ),
    ),
    instances: Type.Array(id('An instance that answered, whether or not an actor runs on it.')),
    now: time('When this was answered, by the clock of the instance that did.'),
    ...patience,
  },
  { title: 'LiveActors' },
)

export const SessionReaders = Type.Object(
  {
    ownerId: nullable(id('The instance that has its actor. Null when none has and it rests in the database.')),
    readers: Type.Array(
      Type.Object(
        {
          instanceId: id('An instance that sends the running reply to readers.'),
          subscribers: count('Number of streams that follow it there.'),
        },
        { title: 'SessionReader' },
      ),
    ),
    newest: nullable(
      Type.Object(
        {
          frame: Type.Integer({ minimum: 0, description: 'Id of the newest stored frame of the running reply.' }),
          storedAt: time('When the database had confirmed it.'),
        },
        { title: 'NewestFrame', description: 'Null when no reply runs.' },
      ),
    ),
    now: time('When this was answered, by the clock of the instance that did.'),
    ...patience,
  },
  { title: 'SessionReaders' },
)

export const UsageReport = Type.Object(
  {
    from: time('Start of the period.'),
    to: time('End of the period, exclusive.'),
    rows: Type.Array(
      Type.Object(
        {
          key: Type.String({
            description:
              'Id of an agent, a model name, a day (`2026-01-31`, UTC), or a version: its number, `draft` or `none`.',
          }),
          replies: count('Number of replies that ended.'),
          promptTokens: count('Tokens read.'),
          completionTokens: count('Tokens written.'),
          totalTokens: count('Their sum.'),
          cachedTokens: count('Of those read: from a provider’s cache, as far as it is reported.'),
          cacheWriteTokens: count('Of those read: written to a cache, as far as it is reported.'),
          reasoningTokens: count('Of those written: spent on reasoning, as far as it is reported.'),
          estimated: Type.Boolean({ description: "Whether the numbers include a tokenizer's estimates." }),
          replays: count('Of `replies`: those that were a replay’s.'),
          feedbackUp: count('Good feedback that was given in this time, and still exists.'),
          feedbackDown: count('Bad feedback that was given in this time, and still exists.'),
        },
        { title: 'UsageRow' },
      ),
    ),
  },
  { title: 'UsageReport' },
)
