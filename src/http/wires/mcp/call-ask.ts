/** A call of the tool `ask`, from its arguments to its result (contract section 30). */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { type Reply, StreamCut } from '../../../actors/reply/frame-log.ts'
import { firstAbort } from '../../../async/first-abort.ts'
import { neverBegun, replyIdOf, sentAnswer } from '../../../features/queue/index.ts'
import { findSession } from '../../../features/sessions/index.ts'
import { isDatabaseGone } from '../../../persistence/postgres/database.ts'
import { errorAnswer, logFailure } from '../../server/errors.ts'
import { HttpError } from '../../server/http-error.ts'
import { createReading, refused, refusedBy } from './answer.ts'
import { type Ask, type AskDependencies, type AskExchange, sendAsk } from './ask.ts'
import { readAskInput, readAskMeta } from './ask-input.ts'
import { callKey, mcpSessionOf } from './call-key.ts'
import { startProgress } from './progress.ts'
import { keepAlias } from './store/call-keys.ts'

export interface CallOfAsk {
  args: unknown
  meta: Readonly<Record<string, unknown>>
  requestId: string | number
  /** Whether a closed response is a cancel: from the revision 2026-07-28 on. */
  closingCancels: boolean
  /** Tells of progress. Null where the client did not ask for it. */
  tell: ((progress: number) => void) | null
}

/** Returns the result of a call. Whatever goes wrong is a result too, or breaks the connection off. */
export async function callAsk(deps: AskDependencies, exchange: AskExchange, call: CallOfAsk): Promise<CallToolResult> {
  try {
    const ask = readAsk(exchange, call)
    return await askAndRead(deps, exchange, ask, call)
  } catch (error) {
    const { log } = exchange.request
    if (!(error instanceof HttpError) && !isDatabaseGone(error)) logFailure(log, error, 'A call of ask failed.')
    return refused(errorAnswer(error).message)
  }
}

/** Throws 400. */
function readAsk({ request }: AskExchange, { args, meta, requestId }: CallOfAsk): Ask {
  const input = readAskInput(args)
  const { user, depth, key } = readAskMeta(meta)
  const header = request.headers['idempotency-key']
  const own = readAskMeta({ 'greenroom/idempotency-key': header === '' ? undefined : header }).key ?? key
  const session = mcpSessionOf(request)
  const ofCall = session === null ? null : callKey(session, requestId)
  return { input, user, depth, key: own ?? ofCall, alias: own === null ? null : ofCall }
}

async function askAndRead(
  deps: AskDependencies,
  exchange: AskExchange,
  ask: Ask,
  call: CallOfAsk,
): Promise<CallToolResult> {
  const { request, reply, left } = exchange
  const { sent, sessionId } = await sendAsk(deps, exchange, ask)
  const { source, onLeft } = sentAnswer(sent, reply)
  const onGone = () => {
    onLeft()
    if (!call.closingCancels || ask.key !== null) return
    deps.host
      .cancel(sessionId, { only: replyIdOf(source) })
      .catch((err: unknown) => request.log.warn({ err }, 'A call that was left could not be cancelled.'))
  }
  if (left.aborted) onGone()
  else left.addEventListener('abort', onGone)
  const { breakOff } = request
  const signal = breakOff ? firstAbort(left, breakOff) : left
  try {
    if (ask.key !== null && ask.alias !== null) await keepAlias(deps.sql, sessionId, ask.key, ask.alias)
    const begun = 'begun' in source ? await source.begun(signal) : source
    if (begun === null) return refused('The client has left.')
    if (typeof begun === 'string') return refusedBy(neverBegun(begun))
    return await read(deps, exchange.agentId, begun, { signal, tell: call.tell })
  } catch (error) {
    // The outcome of the reply is not known here: the same key joins it elsewhere.
    if (!(error instanceof StreamCut) && !isDatabaseGone(error)) throw error
    reply.raw.destroy()
    return refused(errorAnswer(error).message)
  }
}

async function read(
  { sql }: Pick<AskDependencies, 'sql'>,
  agentId: string,
  reply: Reply,
  { signal, tell }: { signal: AbortSignal; tell: CallOfAsk['tell'] },
): Promise<CallToolResult> {
  const reading = createReading()
  using _ = tell && startProgress(tell, reading.figure)
  await reply.read(0, signal, (frames) => void reading.take(frames))
  const session = reading.isWaiting() ? await findSession(sql, agentId, reply.info.sessionId) : null
  return reading.resultOf(reply, session?.pending.map(({ name }) => name) ?? [])
}
