/** Lists and revokes decisions that are remembered, on the deploy API and in management (contract section 29). */
import type { FastifyRequest } from 'fastify'
import { HttpError, missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import type { ToolIdentity } from '../../../persistence/records/tools/configured-tools.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { originOf, writeEntries } from '../../audit/index.ts'
import { findSession } from '../../sessions/index.ts'
import { type Caller, type DeployHandlers, refuseBrokenUser } from '../../users/index.ts'
import { type ListedDecision, listRemembered, type Owner, revokeRemembered } from '../store/remembered/remembered.ts'

interface Dependencies {
  sql: Sql
}

interface OfSession {
  agent_id: string
  session_id: string
}
interface OfUser {
  agent_id: string
  user: string
}

/** Throws 404. */
async function sessionOwner(sql: Sql, { agent_id: agentId, session_id: sessionId }: OfSession): Promise<Owner> {
  if ((await findSession(sql, agentId, sessionId)) === null) missing('session')
  return { agentId, sessionId }
}

/** Throws 400 and 404, and 403 for another user's where a client secret asks. */
async function userOwner(sql: Sql, { agent_id: agentId, user }: OfUser, caller: Caller | null): Promise<Owner> {
  if (caller?.kind === 'secret' && (caller.user !== user || caller.sessionId !== null)) {
    throw new HttpError(403, 'A client secret reaches what its own user has, where it is not bound to a session.')
  }
  if (!isUuid(agentId) || (await findAgent(sql, agentId)) === null) missing('agent')
  refuseBrokenUser(user)
  return { agentId, user }
}

/** Throws 404, and 403 where a client secret may not. */
async function revoke(sql: Sql, request: FastifyRequest, owner: Owner, id: string, caller: Caller | null) {
  const [found] = await listRemembered(sql, owner, id)
  if (found === undefined) return missing('decision')
  if (caller?.kind === 'secret' && found.decision === 'reject' && !found.bySecret) {
    throw new HttpError(403, 'A client secret revokes no rejection that it did not make.')
  }
  if (!(await revokeRemembered(sql, owner, id))) missing('decision')
  const entry = { action: 'revoke' as const, kind: 'decision', recordId: id, recordName: found.name, changes: {} }
  await writeEntries(sql, originOf(request), [entry])
}

/** Returns the values with the digits that they have. */
function valuesOf({ arguments: text }: ListedDecision): Record<string, unknown> | null {
  const values: unknown = text === null ? null : parseExact(text)
  return isObject(values) ? values : null
}

const wire = (one: ListedDecision) => ({
  id: one.id,
  remember: one.remember,
  decision: one.decision,
  name: one.name,
  arguments: valuesOf(one),
  reason: one.reason,
  created_at: one.createdAt,
})

const known = (one: ListedDecision) => ({
  id: one.id,
  remember: one.remember,
  decision: one.decision,
  name: one.name,
  arguments: valuesOf(one),
  reason: one.reason,
  createdAt: one.createdAt,
  decidedBy: one.decidedBy,
  tool: { ...identityOf(one.tool) },
})

/** Returns the identity of a tool's key. */
function identityOf(key: string): ToolIdentity {
  const [kind, id = '', ...name] = key.split(':')
  if (kind === 'built-in') return { builtInToolId: [id, ...name].join(':') }
  if (kind === 'agent') return { agentId: id }
  return kind === 'http' ? { httpToolId: id } : { mcpServerId: id, toolName: name.join(':') }
}

/** Returns the function that lists what is remembered, as the deploy API shows it. */
export const shownDecisions = (sql: Sql) => async (owner: Owner) => (await listRemembered(sql, owner)).map(wire)

export const decisionHandlers = ({ sql }: Dependencies) =>
  ({
    listSessionDecisions: async ({ params }) => ({
      decisions: (await listRemembered(sql, await sessionOwner(sql, params))).map(wire),
    }),
    revokeSessionDecision: async ({ params, request, caller }) =>
      await revoke(sql, request, await sessionOwner(sql, params), params.decision_id, caller),
    listUserDecisions: async ({ params, caller }) => ({
      decisions: (await listRemembered(sql, await userOwner(sql, params, caller))).map(wire),
    }),
    revokeUserDecision: async ({ params, request, caller }) =>
      await revoke(sql, request, await userOwner(sql, params, caller), params.decision_id, caller),
  }) satisfies DeployHandlers<'decisions'>

export const knownDecisionHandlers = ({ sql }: Dependencies) =>
  ({
    listPlaygroundDecisions: async ({ params }) => ({
      decisions: (await listRemembered(sql, await sessionOwner(sql, params))).map(known),
    }),
    revokePlaygroundDecision: async ({ params, request }) =>
      await revoke(sql, request, await sessionOwner(sql, params), params.decision_id, null),
    listKnownUserDecisions: async ({ params }) => ({
      decisions: (await listRemembered(sql, await userOwner(sql, params, null))).map(known),
    }),
    revokeKnownUserDecision: async ({ params, request }) =>
      await revoke(sql, request, await userOwner(sql, params, null), params.decision_id, null),
  }) satisfies Handlers<'knownDecisions'>
