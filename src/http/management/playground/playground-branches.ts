/** The playground's own paths for branches (contract section 14): the head, and where a reply can be forked. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { listFramePlaces } from '../../../persistence/replies/reading/frame-places.ts'
import { camelCase } from '../../sending/place.ts'
import { moveHead } from '../../sending/session-head.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

export const playgroundBranches = (sql: Sql) =>
  ({
    listPlaygroundFrames: async ({ params }) => ({
      frames: (await listFramePlaces(sql, params)) ?? missing('message'),
    }),
    movePlaygroundHead: ({ params, body }) =>
      moveHead(sql, params.agent_id, params.session_id, body.messageId, camelCase),
  }) satisfies Pick<Handlers<'playground'>, 'listPlaygroundFrames' | 'movePlaygroundHead'>
