/** The events of one reply (contract section 16): its trace, and what its model was sent. */

import { HttpError, missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { connectionSignal } from '../../../http/streaming/reply-stream.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readRequests } from '../store/model-requests.ts'
import { readTrace } from '../store/reply-trace.ts'
import type { TraceRecorder } from '../transitions.ts'
import { changes, sendSteps } from './following.ts'

export interface ReplyTraceDependencies {
  sql: Sql
  recorder: TraceRecorder
  /** True when what models are sent is kept: TRACE_REQUESTS. */
  traceRequests: boolean
}

export const replyTraceHandlers = ({ sql, recorder, traceRequests }: ReplyTraceDependencies) =>
  ({
    getReplyTrace: async ({ params }) => {
      await recorder.flush()
      return ((await readTrace(sql, params.message_id)) ?? missing('reply')).trace
    },
    streamReplyTrace: async ({ params, reply }) => {
      const { sessionId } = (await readTrace(sql, params.message_id)) ?? missing('reply')
      const events = follow({ sql, recorder }, params.message_id, changes(recorder, sessionId, connectionSignal(reply)))
      sendSteps(events, reply)
      return undefined
    },
    listReplyRequests: async ({ params }) => {
      if (!traceRequests) throw new HttpError(404, 'TRACE_REQUESTS is off: what models are sent is not kept.')
      await recorder.flush()
      return { requests: (await readRequests(sql, params.message_id)) ?? missing('reply') }
    },
  }) satisfies Handlers<'replyTraces'>

/** Yields the whole trace at each change, until nothing more comes of it or it is gone. */
async function* follow(
  { sql, recorder }: Pick<ReplyTraceDependencies, 'sql' | 'recorder'>,
  messageId: string,
  wakes: AsyncIterable<void>,
) {
  let sent = ''
  await recorder.flush()
  for await (const _ of wakes) {
    const found = await readTrace(sql, messageId)
    if (found === null) return
    const data = JSON.stringify(found.trace)
    if (data !== sent) yield { data }
    sent = data
    if (found.isOver) return
  }
}
