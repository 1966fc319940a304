/** An agent as one of its versions, or its draft, has it: for the replies that use it (contract section 28). */
import { createHash } from 'node:crypto'
import { noRetry } from '../../../http/sending/refusals.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { findConnections } from '../../../persistence/records/providers.ts'
import { readDraft } from '../store/drafts.ts'
import type { WholeSnapshot } from '../store/snapshot.ts'
import { findVersion } from '../store/versions.ts'

/** A version that is asked for, with the field that names it. */
export interface AskedVersion {
  version: number | 'draft'
  field: string
}

/** Reads the field of a request. Throws 400 for anything but a number or "draft". */
export function readAskedVersion(value: unknown, field: string): AskedVersion | undefined {
  if (value === undefined) return undefined
  if (value === 'draft') return { version: value, field }
  return { version: readNumber(value, field, 'a number of a version, or "draft"'), field }
}

/** Reads the field of a pin: null stands for the live version. Throws 400 where the agent has no such version. */
export async function readPin(
  sql: Sql,
  agentId: string,
  value: unknown,
  field: string,
): Promise<number | null | undefined> {
  if (value === undefined || value === null) return value
  const number = readNumber(value, field, 'a number of a version, or null')
  if ((await findVersion(sql, agentId, number)) === null) badRequest(`${field}: the agent has no version ${number}`)
  return number
}

function readNumber(value: unknown, field: string, what: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31) return value
  return badRequest(`${field}: must be ${what}`)
}

/**
 * Returns the agent as it is in a version. The draft is the live version where there is none. Throws 400 where there is no
 * such version, and 409 where its provider is gone.
 */
export async function agentOfVersion(
  { sql }: { sql: Sql },
  live: AgentForCompletion,
  { version, field }: AskedVersion,
): Promise<AgentForCompletion> {
  if (version === live.version) return live
  if (version !== 'draft')
    return await agentHolding(sql, live, await heldByVersion(sql, live.id, { version, field }), version)
  const state = await readDraft(sql, live.id)
  return state?.changes ? await agentHolding(sql, live, state.drafted, version) : live
}

/** Returns what a version holds. Throws 400 where there is no such version, and for a draft where there is none. */
export async function heldByVersion(
  sql: Sql,
  agentId: string,
  { version, field }: AskedVersion,
): Promise<WholeSnapshot> {
  if (version === 'draft') {
    const state = await readDraft(sql, agentId)
    return state?.changes ? state.drafted : badRequest(`${field}: the agent has no draft`)
  }
  const found = await findVersion(sql, agentId, version)
  return found?.held ?? badRequest(`${field}: the agent has no version ${version}`)
}

/** Returns the agent as a snapshot has it. Throws 409 where its provider is gone. */
export async function agentHolding(
  sql: Sql,
  live: AgentForCompletion,
  { agent, tools, named, prompt, names }: WholeSnapshot,
  version: number | 'draft',
): Promise<AgentForCompletion> {
  const { providerId, promptId, systemPrompt, fallbacks, ...fields } = agent
  const found = await findConnections(sql, [providerId, ...fallbacks.map((one) => one.providerId)])
  const connections = new Map(found.map((connection) => [connection.id, connection]))
  const provider = connections.get(providerId)
  if (provider === undefined) {
    const name = JSON.stringify(names.providers[providerId] ?? providerId)
    throw new HttpError(409, `The provider ${name} of the agent's version ${version} is gone.`, noRetry)
  }
  return {
    ...live,
    ...fields,
    version,
    system: prompt ?? systemPrompt,
    prompt:
      promptId === null || prompt === null
        ? null
        : { id: promptId, name: names.prompt ?? '', sha256: createHash('sha256').update(prompt).digest('hex') },
    provider,
    fallbacks: fallbacks.flatMap(({ providerId: id, model }) => {
      const connection = connections.get(id)
      return connection ? [{ provider: connection, model }] : []
    }),
    tools: { ...tools, named },
  }
}
