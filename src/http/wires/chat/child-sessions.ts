/** The sessions below a session, on its own paths (contract section 30). */
import { cancelSession } from '../../../features/queue/index.ts'
import { findSession } from '../../../features/sessions/index.ts'
import type { DeployHandlers } from '../../../features/users/index.ts'
import { missing } from '../../server/http-error.ts'
import { answerMessages } from '../../server/paging/message-page.ts'
import { followReply } from '../../streaming/reply-stream.ts'
import { childIn } from '../shared/sessions-below.ts'
import { sessionFrame } from './completion-frames.ts'
import { wireMessage } from './messages.ts'
import { wireSession } from './sessions.ts'

export const childSessionHandlers = (deps: Parameters<typeof cancelSession>[0] & Parameters<typeof followReply>[0]) => {
  const { sql } = deps
  return {
    getChildSession: async ({ params }) => {
      const { agent_id, session_id } = await childIn(sql, params)
      return wireSession((await findSession(sql, agent_id, session_id)) ?? missing('session'))
    },
    listChildSessionMessages: async ({ params, query, reply }) =>
      await answerMessages(sql, await childIn(sql, params), query, { reply, show: wireMessage }),
    resumeChildSession: async ({ params, query, ...exchange }) =>
      await followReply(deps, await childIn(sql, params), exchange, sessionFrame, query.reply),
    cancelChildSession: async ({ params, body }) => await cancelSession(deps, await childIn(sql, params), body),
  } satisfies DeployHandlers<'childSessions'>
}
