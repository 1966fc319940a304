/** Drafts of agents, as the routes of agents know them. */
import Type from 'typebox'
import { documented } from '../../documented.ts'
import { count, nullable, oneOf } from '../basics.ts'

/** The version that a request asks for. A handler checks it. */
export const askedVersion = Type.Optional(
  Type.Unsafe<unknown>({
    description:
      'The version of the agent that answers: its number, or `draft`, for this reply and those that continue it. Absent: that of the session, else the live one. A client secret may not send it (403).',
    ...documented({
      anyOf: [
        { type: 'integer', minimum: 1 },
        { type: 'string', enum: ['draft'] },
      ],
    }),
  }),
)

/** The version of a session's replies, as records show it. */
export const pin = nullable(
  Type.Integer({ minimum: 1, description: 'The version of its agent that its replies use. Null: the live one.' }),
)
/** The same as callers set it. A handler checks it. */
export const givenPin = Type.Optional(
  Type.Unsafe<unknown>({
    description:
      'The version of its agent that its replies use, from the next one on. Null: the live one. A client secret may not send it (403).',
    ...documented({ type: ['integer', 'null'], minimum: 1 }),
  }),
)
/** The version that a stored message's reply used. */
export const repliedVersion = Type.Unsafe<number | 'draft' | null>({
  anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string', enum: ['draft'] }, { type: 'null' }],
  description:
    'The version of the agent that answered, or `draft`. Null for older replies, and for copied or given ones.',
})

/** The number of the live version, and whether there is a draft, as agents show them. */
export const versionFields = {
  version: count('Number of the live version.'),
  hasDraft: Type.Boolean({ description: 'Whether there is a draft.' }),
}

export const draftQuery = Type.Object({
  draft: Type.Optional(
    oneOf(['true', 'false'], 'With `true` the draft is meant: the fields that it changes over the live version.'),
  ),
})
