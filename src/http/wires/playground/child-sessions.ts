/** The sessions below a session, on the playground's paths (contract section 30). */
import { cancelSession } from '../../../features/queue/index.ts'
import { findSession } from '../../../features/sessions/index.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { answerMessages } from '../../server/paging/message-page.ts'
import { followReply } from '../../streaming/reply-stream.ts'
import { playgroundFrame } from '../chat/completion-frames.ts'
import { childIn } from '../shared/sessions-below.ts'
import { wireMessage } from './playground.ts'

export const playgroundChildHandlers = (
  deps: Parameters<typeof cancelSession>[0] & Parameters<typeof followReply>[0],
) => {
  const { sql } = deps
  return {
    getPlaygroundChild: async ({ params }) => {
      const { agent_id, session_id } = await childIn(sql, params)
      return (await findSession(sql, agent_id, session_id)) ?? missing('session')
    },
    listPlaygroundChildMessages: async ({ params, query, reply }) =>
      await answerMessages(sql, await childIn(sql, params), query, { reply, show: wireMessage }),
    resumePlaygroundChild: async ({ params, ...exchange }) =>
      await followReply(deps, await childIn(sql, params), exchange, playgroundFrame),
    cancelPlaygroundChild: async ({ params, body }) => await cancelSession(deps, await childIn(sql, params), body),
  } satisfies Handlers<'playgroundChildren'>
}
