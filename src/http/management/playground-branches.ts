/** The playground's own paths for branches (contract section 14): the head, and where a reply can be forked. */
import type { Sql } from '../../persistence/postgres/database.ts'
import { listFramePlaces } from '../../persistence/replies/frame-places.ts'
import { missing } from '../http-error.ts'
import { camelCase } from '../message-place.ts'
import type { Handlers } from '../mount.ts'
import { turnTo } from '../session-head.ts'

export const playgroundBranches = (sql: Sql) =>
  ({
    listPlaygroundFrames: async ({ params }) => ({
      frames: (await listFramePlaces(sql, params)) ?? missing('message'),
    }),
    movePlaygroundHead: ({ params, body }) =>
      turnTo(sql, params.agent_id, params.session_id, body.messageId, camelCase),
  }) satisfies Pick<Handlers<'playground'>, 'listPlaygroundFrames' | 'movePlaygroundHead'>
