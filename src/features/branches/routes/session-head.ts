/** Moving a session's head to another branch (contract section 14), on both of its paths. */

import { type NameOf, refuse, refuseBusy, snakeCase } from '../../../http/sending/refusals.ts'
import { missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { findSession, type Session } from '../../sessions/index.ts'
import * as heads from '../store/head.ts'

/** Throws 404, 400 for an unknown message, 409 while a reply runs, calls wait, or a call waits for the session. */
export async function moveHead(
  sql: Sql,
  agentId: string,
  sessionId: string,
  messageId: string,
  nameOf: NameOf = snakeCase,
): Promise<Session> {
  const moved = await heads.moveHead(sql, agentId, sessionId, messageId)
  if (moved === 'not_found') missing('session')
  if (moved === 'busy') refuseBusy(await findSession(sql, agentId, sessionId))
  if (moved === 'answers_call') refuse('parent_waits')
  if (moved !== 'moved') refuse(moved, nameOf)
  return (await findSession(sql, agentId, sessionId)) ?? missing('session')
}
