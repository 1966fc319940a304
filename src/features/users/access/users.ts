/** An agent's users: revoke their client secrets, delete and export their sessions (contract section 11). */
import type { FastifyRequest } from 'fastify'
import type { SessionHost } from '../../../actors/session/host.ts'
import { deleteAllSessions } from '../../../http/server/database-errors/delete-sessions.ts'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import { bodyTexts, readable } from '../../../http/streaming/written-lists.ts'
import type { Sql, Tx } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { withEscapedLineEnds } from '../../../untrusted/line-ends.ts'
import { commitChange, forgetTitlesRead, originOf, writeEntries } from '../../audit/index.ts'
import { findSession, listMessages, type MessageList, type Session } from '../../sessions/index.ts'
import { revokeUser, sessionIdsOf } from '../store/users.ts'
import type { DeployHandlers } from './caller.ts'
import type { RevocationList } from './revocations.ts'
import { refuseBrokenUser } from './user-param.ts'

export interface UserDependencies {
  sql: Sql
  host: SessionHost
  revocations: Pick<RevocationList, 'add'>
  /** The files of a user with an agent. */
  userFiles: {
    list(agentId: string, user: string): Promise<object[]>
    delete(agentId: string, user: string): Promise<void>
  }
  /** The MCP servers that a user has signed in at. */
  connections: {
    list(sql: Sql, of: { agentId: string; user: string }): Promise<object[]>
    delete(sql: Sql, agentId: string, user: string): Promise<void>
  }
  /** Returns the sessions below a session, oldest first. */
  sessionsBelow(sql: Sql, sessionId: string): Promise<{ id: string; agentId: string }[]>
  /** Ends the shares of the user's sessions. */
  endShares(tx: Tx, agentId: string, user: string): Promise<void>
  /** The forms in which the deploy API shows sessions and messages, and the lists of what is remembered. */
  shown: {
    session(session: Session): object
    message(message: MessageOf<MessageList>): object
    /** Returns the outputs that the caller gave for the message's calls. */
    outputs(message: MessageOf<MessageList>): Promise<readonly object[]>
    decisions(of: { agentId: string } & ({ sessionId: string } | { user: string })): Promise<readonly object[]>
  }
}

type MessageOf<List> = List extends AsyncIterable<infer Message> ? Message : never

interface Params {
  agent_id: string
  user: string
}

/** Throws 404 for what is no agent's id, then 400 for what no user can be called. */
function readParams({ agent_id, user }: Params) {
  if (!isUuid(agent_id)) missing('agent')
  refuseBrokenUser(user)
  const length = [...user].length
  if (length < 1 || length > 200) badRequest('user: must have 1 to 200 characters')
  return { agentId: agent_id.toLowerCase(), user }
}

export const userHandlers = (deps: UserDependencies) =>
  ({
    revokeUser: async ({ params, request }) => {
      await revoke(deps, request, 'revoke', readParams(params))
    },
    deleteUser: async ({ params, request }) => {
      const { agentId, user } = readParams(params)
      // First: no secret of the user makes another session from then on, on any instance.
      await revoke(deps, request, 'delete', { agentId, user })
      await deleteAllSessions(deps, { agentId, user }, async () => {})
      await deps.userFiles.delete(agentId, user)
      await deps.connections.delete(deps.sql, agentId, user)
      // Behind the sessions: one that was stored at that moment is there by now.
      await deps.sql`
        delete from remembered_decisions where agent_id = ${agentId} and end_user = ${user} and session_id is null`
    },
    exportUser: async ({ params, request, reply }) => {
      const { agentId, user } = readParams(params)
      if ((await findAgent(deps.sql, agentId)) === null) missing('agent')
      await writeEntries(deps.sql, originOf(request), [entryOf('export', { agentId, user })])
      // Read as fast as the client takes it: 1 MiB of messages at a time is in memory, or one message.
      return reply.type('application/x-ndjson').send(readable(exportLines(deps, agentId, user)))
    },
  }) satisfies DeployHandlers<'users'>

const entryOf = (action: 'revoke' | 'delete' | 'export', { agentId, user }: { agentId: string; user: string }) => ({
  action,
  kind: 'user',
  recordId: agentId,
  recordName: user,
  changes: {},
})

/** Throws 404 for an unknown agent. */
async function revoke(
  { sql, revocations, endShares }: UserDependencies,
  request: FastifyRequest,
  action: 'revoke' | 'delete',
  one: { agentId: string; user: string },
): Promise<void> {
  const number = await commitChange(sql, async (tx) => {
    const revoked = (await revokeUser(tx, one.agentId, one.user)) ?? missing('agent')
    await endShares(tx, one.agentId, one.user)
    if (action === 'delete') await forgetTitlesRead(tx, one.agentId, one.user)
    await writeEntries(tx, originOf(request), [entryOf(action, one)])
    return revoked
  })
  revocations.add({ ...one, number })
}

async function* shownMessages({ shown }: UserDependencies, messages: MessageList) {
  for await (const message of messages) {
    const outputs = await shown.outputs(message)
    yield { ...shown.message(message), ...(outputs.length > 0 && { outputs }) }
  }
}

async function* sessionLine(
  deps: UserDependencies,
  { id, agentId }: { id: string; agentId: string },
  user: string,
): AsyncGenerator<string> {
  const { sql, shown } = deps
  const [session, messages] = [
    await findSession(sql, agentId, id),
    await listMessages(sql, agentId, id, { branches: 'all' }, Number.POSITIVE_INFINITY),
  ]
  // Deleted meanwhile, or made again for another user.
  if (session?.user !== user || messages === null) return
  const decisions = await shown.decisions({ agentId, sessionId: id })
  const texts = bodyTexts({
    ...shown.session(session),
    messages: shownMessages(deps, messages),
    ...(decisions.length > 0 && { decisions }),
  })
  for await (const text of texts) yield withEscapedLineEnds(text)
  yield '\n'
}

async function* exportLines(deps: UserDependencies, agentId: string, user: string): AsyncGenerator<string> {
  const { sql, shown } = deps
  for (let after = 0, isMore = true; isMore; ) {
    const sessions = await sessionIdsOf(sql, agentId, user, after)
    for (const { id, num } of sessions) {
      after = num
      for (const one of [{ id, agentId }, ...(await deps.sessionsBelow(sql, id))]) yield* sessionLine(deps, one, user)
    }
    isMore = sessions.length > 0
  }
  for (const file of await deps.userFiles.list(agentId, user)) yield `${withEscapedLineEnds(JSON.stringify(file))}\n`
  const decisions = await shown.decisions({ agentId, user })
  if (decisions.length > 0) yield `${withEscapedLineEnds(JSON.stringify({ decisions }))}\n`
  const connections = await deps.connections.list(deps.sql, { agentId, user })
  if (connections.length > 0) yield `${withEscapedLineEnds(JSON.stringify({ connections }))}\n`
}
