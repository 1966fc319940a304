/** Drafts of agents, as the routes of agents know them. */
import Type from 'typebox'
import { count, oneOf } from '../basics.ts'

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
