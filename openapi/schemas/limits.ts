/** Limits of a key, and of each user of an agent. */
import Type from 'typebox'
import { count, listOf, nullable, optional, page } from './basics.ts'

const MOST = 1_000_000_000_000
const whole = (description: string) => Type.Integer({ minimum: 1, maximum: MOST, description })
const limits = {
  requestsPerMinute: whole('Requests that begin a reply, in any 60 s.'),
  concurrentReplies: whole('Replies that run at a time.'),
  tokensPerDay: whole('Prompt and completion tokens in a day, UTC.'),
  costPerMonth: Type.Number({
    exclusiveMinimum: 0,
    maximum: MOST,
    description: 'Cost in a month, UTC, by the prices that are set. A model without a price costs nothing.',
  }),
}
const rules =
  'They hold over all instances. A request over one of them is 429 with `Retry-After`, and counts nothing. Replies that run may exceed those of tokens and cost.'

/** Returns the limits as they are read. `whose`: as `of the key`. */
export const limitsOf = (whose: string) =>
  Type.Unsafe({
    ...Type.Object(optional(limits)),
    type: ['object', 'null'],
    description: `Limits ${whose}. ${rules} Null when there is none.`,
  })

/** Returns the limits as they are written. */
export const limitsInput = (whose: string) =>
  Type.Unsafe({
    ...Type.Object(optional(Object.fromEntries(Object.entries(limits).map(([name, rule]) => [name, nullable(rule)])))),
    type: ['object', 'null'],
    description: `Limits ${whose}. ${rules} Replaced as a whole. Null, here or inside: no limit.`,
  })

/** A record with the limit `costPerMonth` names the models that it cannot count. */
export const priceWarning = Type.Optional(
  Type.String({
    description: 'Models without a price, which cost nothing for `costPerMonth`. Absent when there are none.',
  }),
)

const use = {
  requestsLastMinute: count('Requests of the last 60 s. 0 without a limit of requests: none are counted.'),
  runningReplies: count('Replies that run. 0 without a limit of concurrent replies: none are counted.'),
  tokensToday: Type.Number({ description: 'Tokens of this day, UTC, of replies that have ended.' }),
  costThisMonth: Type.Number({ description: 'Cost of this month, UTC, of replies that have ended.' }),
}
export const KeyUse = Type.Object(use, { title: 'KeyUse' })
export const UserUses = listOf(
  'UserUses',
  'users',
  Type.Object({ user: Type.String({ description: 'The user.' }), ...use }, { title: 'UserUse' }),
)
export const userUsePage = Type.Object({
  ...page.properties,
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'This user alone.' })),
})

/** Words for the 429 of operations that begin a reply. */
export const overLimit =
  'A limit of the key or of the user is reached; nothing was stored or counted. `Retry-After` says when to try again; with `x-should-retry: false` that is another day or month.'

/** Words for the 429 of operations that make a session and begin no reply. */
export const noMoreSessions =
  'The user has as many sessions as `MAX_USER_SESSIONS` allows (code `too_many_sessions`), or a client secret’s limit of requests is reached (`Retry-After`).'
