/** Health, login, and what operators look at. */
import Type from 'typebox'
import { count, freeObject, id, listOf, nullable, oneOf, time } from './basics.ts'

export const Live = Type.Object({ status: oneOf(['ok'], 'The server runs.') }, { title: 'Live' })
export const Ready = Type.Object(
  {
    status: oneOf(['ready', 'not_ready'], 'Whether new work is taken.'),
    checks: Type.Object({
      database: oneOf(['ok', 'down'], 'Down, or its disk is full: 503.'),
      cache: oneOf(['ok', 'disabled', 'degraded'], 'Degraded stays 200: PostgreSQL alone is enough.'),
    }),
    message: Type.Optional(Type.String({ description: 'Why not, with 503.' })),
  },
  { title: 'Ready' },
)

export const AuthStatus = Type.Object(
  { authRequired: Type.Boolean(), authenticated: Type.Boolean() },
  { title: 'AuthStatus' },
)
export const LoginRequest = Type.Object(
  { username: Type.String(), password: Type.String({ format: 'password' }) },
  { title: 'LoginRequest' },
)
export const LoggedIn = Type.Object({ username: Type.String() }, { title: 'LoggedIn' })
export const CurrentUser = Type.Object(
  { username: nullable(Type.String({ description: 'Null when no login is required.' })) },
  { title: 'CurrentUser' },
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
          parent: nullable(Type.String({ description: 'Id of the state it lies in.' })),
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
  { title: 'Chart', description: 'The state chart of a session, derived from the machine that runs.' },
)

export const SessionTransition = Type.Object(
  {
    seq: Type.Integer({ description: 'Grows with every transition; the `id:` of its event in the stream.' }),
    at: time('When it was made.'),
    from: Type.String({ description: 'Id of the innermost state.' }),
    to: Type.String({ description: 'Id of the innermost state.' }),
    event: Type.String(),
    messageId: nullable(id('The reply that it is about.')),
    instanceId: id('The instance that made it.'),
    detail: freeObject('Codes and counts, never content.'),
  },
  { title: 'SessionTransition' },
)
export const SessionTransitionList = listOf('SessionTransitionList', 'transitions', SessionTransition)

const milliseconds = (description: string) =>
  nullable(Type.Number({ minimum: 0, description: `${description} Milliseconds; null without a visit.` }))
export const ChartTraffic = Type.Object(
  {
    since: time('Start of the time looked at.'),
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

export const LiveActors = Type.Object(
  {
    actors: Type.Array(
      Type.Object(
        {
          sessionId: id('Id of the session.'),
          agentId: id('Id of its agent.'),
          instanceId: id('Where it lives.'),
          state: Type.String({ description: 'Id of the innermost state.' }),
          since: time('When it entered that state.'),
          subscribers: count('How many streams follow it there.'),
        },
        { title: 'LiveActor' },
      ),
    ),
  },
  { title: 'LiveActors' },
)

export const UsageReport = Type.Object(
  {
    from: time('Start of the time counted.'),
    to: time('Its end, not included.'),
    rows: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: 'Id of an agent, a model name, or a day (`2026-01-31`, UTC).' }),
          replies: count('How many replies ended.'),
          promptTokens: count('Tokens read.'),
          completionTokens: count('Tokens written.'),
          totalTokens: count('Their sum.'),
          estimated: Type.Boolean({ description: "Whether a tokenizer's estimate is among the numbers." }),
        },
        { title: 'UsageRow' },
      ),
    ),
  },
  { title: 'UsageReport' },
)
