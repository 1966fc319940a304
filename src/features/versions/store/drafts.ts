/** Drafts: the fields that differ from an agent's live version, for requests that ask for them (contract section 28). */
import { isDeepStrictEqual } from 'node:util'
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { requireApproved, requireTools } from '../../../persistence/records/tools/agent-tools.ts'
import { requireWays } from '../../../persistence/records/tools/agent-ways.ts'
import type { ConfiguredTools, NamedTools, WorkOutNames } from '../../../persistence/records/tools/configured-tools.ts'
import { textOfApproval, tidyApprovals } from '../../../persistence/records/tools/tool-approvals.ts'
import { type Changes, type ToolChoice, tidyTools } from '../../../persistence/records/tools/tool-kinds.ts'
import {
  readAgentFields,
  readSnapshot,
  type Snapshot,
  type VersionFields,
  type WholeSnapshot,
  withoutGoneTools,
} from './snapshot.ts'

/** The changed fields. `named`: the tools that the names in `approvals` stood for when the draft was saved. */
export interface DraftChanges {
  agent: Partial<VersionFields>
  tools: Partial<ToolChoice>
  named: NamedTools
}

/** An agent's live state, and its draft. */
export interface DraftState {
  live: WholeSnapshot
  /** Null when there is no draft. */
  changes: DraftChanges | null
  /** The live state with the changes. */
  drafted: WholeSnapshot
}

const noChanges: DraftChanges = { agent: {}, tools: {}, named: {} }

/** Reads live state and draft. Null when there is no such agent. */
export async function readDraft(sql: AnySql, agentId: string): Promise<DraftState | null> {
  const live = await readSnapshot(sql, agentId)
  if (live === null) return null
  const [row] = await sql<{ changes: string }[]>`select changes::text from agent_drafts where agent_id = ${agentId}`
  const changes = row ? readAgentFields<DraftChanges>(row.changes) : null
  return { live, changes, drafted: await withPrompt(sql, draftedOf(live, changes ?? noChanges)) }
}

/** Locks the agent, then reads as `readDraft`. */
export async function lockDraft(tx: Tx, agentId: string): Promise<DraftState | null> {
  await tx`select 1 from agents where id = ${agentId} for no key update`
  return await readDraft(tx, agentId)
}

const draftedOf = (live: WholeSnapshot, { agent, tools, named }: DraftChanges): WholeSnapshot => ({
  ...live,
  agent: { ...live.agent, ...agent },
  tools: { ...live.tools, ...tools },
  named: bothMeanings(live.named, named),
})

/** Adds the text and the name of the draft's prompt, as it is now. */
async function withPrompt(sql: AnySql, drafted: WholeSnapshot): Promise<WholeSnapshot> {
  const [prompt] = await sql<{ name: string; content: string }[]>`
    select name, content from prompts where id = ${drafted.agent.promptId}`
  return {
    ...drafted,
    prompt: prompt?.content ?? null,
    names: { ...drafted.names, prompt: prompt?.name ?? null },
  }
}

function bothMeanings(live: NamedTools, more: NamedTools): NamedTools {
  const names = new Set([...Object.keys(live), ...Object.keys(more)])
  const [was, is] = [new Map(Object.entries(live)), new Map(Object.entries(more))]
  return Object.fromEntries(
    [...names].map((name) => {
      const all = [...(was.get(name) ?? []), ...(is.get(name) ?? [])]
      return [name, [...new Map(all.map((tool) => [textOfApproval(tool), tool])).values()]]
    }),
  )
}

/** Stores the changes in place of the draft's; those that say what the live version says are no changes. */
async function storeChanges(tx: Tx, agentId: string, live: Snapshot, changes: DraftChanges): Promise<void> {
  const agent = changedFields(live.agent, changes.agent)
  if ('promptId' in agent || 'systemPrompt' in agent) {
    const { promptId, systemPrompt } = { ...live.agent, ...changes.agent }
    Object.assign(agent, { promptId, systemPrompt })
  }
  const tools = changedFields(live.tools, changes.tools)
  await tx`delete from agent_draft_providers where agent_id = ${agentId}`
  if (Object.keys(agent).length + Object.keys(tools).length === 0) {
    await tx`delete from agent_drafts where agent_id = ${agentId}`
    return
  }
  const text = JSON.stringify({ agent, tools, named: changes.named } satisfies DraftChanges)
  await tx`
    insert into agent_drafts (agent_id, prompt_id, changes) values (${agentId}, ${agent.promptId ?? null}, ${text}::text::json)
    on conflict (agent_id) do update set prompt_id = excluded.prompt_id, changes = excluded.changes`
  const providers = [agent.providerId ?? [], agent.fallbacks?.map(({ providerId }) => providerId) ?? []].flat()
  await tx`
    insert into agent_draft_providers (agent_id, provider_id)
    select distinct ${agentId}::uuid, id from unnest(${providers}::uuid[]) as given (id)`
}

function changedFields<Fields extends object>(live: Fields, changes: Partial<Fields>): Partial<Fields> {
  const were = new Map<string, unknown>(Object.entries(live))
  const differ = Object.entries(changes).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(were.get(name) ?? null, value ?? null),
  )
  // The names are those of `changes`.
  return Object.fromEntries(differ) as Partial<Fields>
}

/** Changes all of the draft that differs from the live version. Returns whether anything does. */
export async function changeDraft(
  tx: Tx,
  agentId: string,
  { live, changes }: DraftState,
  { agent, tools, named }: Snapshot,
): Promise<boolean> {
  const [fields, choice] = [changedFields(live.agent, agent), changedFields(live.tools, tools)]
  if (Object.keys(fields).length + Object.keys(choice).length === 0) return false
  const before = changes ?? noChanges
  await storeChanges(tx, agentId, live, {
    agent: { ...before.agent, ...fields },
    tools: { ...before.tools, ...choice },
    named: bothMeanings(before.named, named),
  })
  return true
}

/** Changes the draft's fields of the agent. Rejects with the constraints of the draft's prompt and providers. */
export async function changeDraftFields(
  tx: Tx,
  agentId: string,
  { live, changes }: DraftState,
  fields: { [Field in keyof VersionFields]?: VersionFields[Field] | undefined },
): Promise<void> {
  const before = changes ?? noChanges
  await storeChanges(tx, agentId, live, { ...before, agent: { ...before.agent, ...given(fields) } })
}

/** Changes the draft's choice of tools. Rejects with UnknownTool. */
export async function changeDraftTools(
  tx: Tx,
  agentId: string,
  { live, changes, drafted }: DraftState,
  {
    choice: { approvals: asked, approvalsExpireAfterS, ...chosen },
    workOut,
  }: { choice: Changes<ToolChoice>; workOut: WorkOutNames },
): Promise<void> {
  const before = changes ?? noChanges
  const tools = tidyTools(chosen)
  await requireTools(tx, tools)
  await requireWays(tx, agentId, tools.agentTools)
  const approvals = asked && tidyApprovals(asked)
  if (approvals) await requireApproved(tx, drafted.tools.approvals, approvals)
  const next = { ...before.tools, ...given({ ...tools, approvals, approvalsExpireAfterS }) }
  const all = { ...drafted.tools, ...next }
  const names = all.approvals === '*' ? [] : all.approvals.filter((approval) => typeof approval === 'string')
  const now = workOut(names, await configuredFor(tx, all))
  const named = bothMeanings(before.named, now)
  const kept = Object.fromEntries(Object.entries(named).filter(([name]) => names.includes(name)))
  await storeChanges(tx, agentId, live, { ...before, tools: next, named: kept })
}

/** Returns the fields that are not undefined. */
const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof Fields]: Exclude<Fields[Field], undefined>
  }

async function configuredFor(
  sql: AnySql,
  { httpToolIds, mcpServers, builtInToolIds, agentTools }: ToolChoice,
): Promise<ConfiguredTools> {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from http_tools where id = any (${httpToolIds}::uuid[])
    union all select id, name from mcp_servers where id = any (${mcpServers.map(({ mcpServerId }) => mcpServerId)}::uuid[])
    union all select id, name from agents where id = any (${agentTools.map(({ agentId }) => agentId)}::uuid[])`
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  const named = (id: string) => ({ id, name: names.get(id) ?? '' })
  return {
    httpTools: httpToolIds.filter((id) => names.has(id)).map(named),
    mcpServers: mcpServers
      .filter(({ mcpServerId: id }) => names.has(id))
      .map(({ mcpServerId, toolNames }) => ({ ...named(mcpServerId), toolNames })),
    builtInToolIds,
    agentTools: agentTools
      .filter(({ agentId }) => names.has(agentId))
      .map(({ agentId: id, name }) => ({ id, name: name ?? named(id).name })),
  }
}

/** Removes the draft. False when there is none. */
export async function removeDraft(tx: Tx, agentId: string): Promise<boolean> {
  const { count } = await tx`delete from agent_drafts where agent_id = ${agentId}`
  return count > 0
}

/** Takes tools that are gone out of the drafts that name this one. */
export async function forgetToolInDrafts(tx: Tx, toolId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    select d.agent_id as id from agent_drafts d
     where strpos(d.changes ->> 'tools', ${toolId.toLowerCase()}) > 0 order by d.agent_id`
  for (const { id } of rows) {
    const state = await lockDraft(tx, id)
    if (state?.changes == null) continue
    const own = new Set(Object.keys(state.changes.tools))
    const { tools } = await withoutGoneTools(tx, state.drafted)
    const kept = Object.fromEntries(Object.entries(tools).filter(([field]) => own.has(field)))
    await storeChanges(tx, id, state.live, { ...state.changes, tools: kept })
  }
}
