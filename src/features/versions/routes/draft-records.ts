/** The draft as the routes of an agent and of its tools show and change it. */
import type { FastifyRequest } from 'fastify'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import { partOf } from '../../../http/server/tags/record-tags.ts'
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { type Agent, type AgentChanges, findAgent } from '../../../persistence/records/agents.ts'
import type { ToolChoice } from '../../../persistence/records/tools/tool-kinds.ts'
import { recordChange } from '../../audit/index.ts'
import { changeDraftFields, type DraftState, lockDraft, readDraft } from '../store/drafts.ts'
import type { Snapshot } from '../store/snapshot.ts'

/** Returns the state that the tag of each of its answers stands for. */
export const draftWhole = ({ drafted: { agent, tools } }: DraftState): Pick<Snapshot, 'agent' | 'tools'> => ({
  agent,
  tools,
})

/** Returns the agent as the draft has it. Throws 404. */
export async function draftedAgent(sql: AnySql, agentId: string): Promise<Agent> {
  const agent = (await findAgent(sql, agentId)) ?? missing('agent')
  const state = (await readDraft(sql, agent.id)) ?? missing('agent')
  return shownAgent(agent, state)
}

const shownAgent = (agent: Agent, state: DraftState): Agent =>
  partOf({ ...agent, ...state.drafted.agent }, draftWhole(state))

/** Returns the choice of tools as the draft has it. Throws 404. */
export async function draftedTools(sql: AnySql, agentId: string): Promise<ToolChoice> {
  const agent = (await findAgent(sql, agentId)) ?? missing('agent')
  return shownTools((await readDraft(sql, agent.id)) ?? missing('agent'))
}

const shownTools = (state: DraftState): ToolChoice => partOf({ ...state.drafted.tools }, draftWhole(state))

/** The fields of an agent that belong to no version. */
const unversioned = ['name', 'allowedOrigins', 'allowSharing', 'userLimits'] as const

/** Changes the draft's fields of an agent. `check` throws 400 for what a PUT refuses. Throws 400 and 404. */
export async function changeDraftedAgent(
  { sql, request }: { sql: Sql; request: FastifyRequest },
  agentId: string,
  changes: AgentChanges,
  check: (tx: Tx, drafted: Agent) => Promise<void>,
): Promise<Agent> {
  const agent = (await findAgent(sql, agentId)) ?? missing('agent')
  for (const field of unversioned) {
    if (changes[field] !== undefined && JSON.stringify(changes[field]) !== JSON.stringify(agent[field]))
      badRequest(`${field}: belongs to no version; change it without draft=true`)
  }
  const { name: _, allowedOrigins: __, allowSharing: ___, userLimits: ____, ...fields } = changes
  return await changeDrafted({ sql, request }, agent, async (tx, state) => {
    await changeDraftFields(tx, agent.id, state, fields)
    const drafted = await draftedAgent(tx, agent.id)
    await check(tx, drafted)
    return drafted
  })
}

/** Changes the draft's choice of tools by `change`. Throws 404. */
export async function changeDraftedTools(
  { sql, request }: { sql: Sql; request: FastifyRequest },
  agent: Pick<Agent, 'id' | 'name'>,
  change: (tx: Tx, state: DraftState) => Promise<void>,
): Promise<ToolChoice> {
  return await changeDrafted({ sql, request }, agent, async (tx, state) => {
    await change(tx, state)
    return await draftedTools(tx, agent.id)
  })
}

/** Changes the draft, with the entry of it as a whole. */
const changeDrafted = <Shown>(
  { sql, request }: { sql: Sql; request: FastifyRequest },
  { id, name }: Pick<Agent, 'id' | 'name'>,
  change: (tx: Tx, state: DraftState) => Promise<Shown>,
): Promise<Shown> =>
  recordChange(
    sql,
    request,
    'agentDraft',
    async (tx) => {
      const before = (await lockDraft(tx, id)) ?? missing('agent')
      const result = await change(tx, before)
      const after = await readDraft(tx, id)
      return { before: fieldsOf(before), after: fieldsOf(after ?? before), result }
    },
    { id, name },
  )

/** Returns the draft as its entries tell of it. */
export const fieldsOf = ({ drafted: { agent, tools } }: DraftState) => ({ ...agent, ...tools })
