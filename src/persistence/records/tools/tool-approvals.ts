/** An agent's tools that need approval, as stored: with what names meant when they were saved. */

import type { AnySql, Sql } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import type {
  Approval,
  ConfiguredTools,
  NamedTool,
  NamedTools,
  ToolApproval,
  WorkOutNames,
} from './configured-tools.ts'
import { type AgentTool, choiceOf, configuredOf, type ToolChoice, tidyIdentity } from './tool-kinds.ts'

/** An agent's choice as replies need it. */
export interface ToolsOfAgent extends ToolChoice {
  named: NamedTools
}

/** Returns normalized ids without duplicates. */
export function tidyApprovals(approvals: readonly Approval[] | '*'): Approval[] | '*' {
  if (approvals === '*') return approvals
  const tidy = approvals.map((approval) => (typeof approval === 'string' ? approval : tidyApproval(approval)))
  return withoutDoubles(tidy)
}

const tidyApproval = ({ when, mayRemember, ...identity }: ToolApproval): ToolApproval => ({
  ...tidyIdentity(identity),
  ...(when && { when }),
  ...(mayRemember && { mayRemember }),
})

/**
 * Returns a text that is the same for equal approvals. Objects that come back from jsonb have their keys in another
 * order.
 */
export const textOfApproval = (approval: Approval | NamedTool): string =>
  typeof approval === 'string' ? approval : JSON.stringify(Object.entries(approval).sort())

const withoutDoubles = <T extends Approval | NamedTool>(list: readonly T[]): T[] => [
  ...new Map(list.map((entry) => [textOfApproval(entry), entry])).values(),
]

/** Returns the ids of the entries that identify a tool of the kind that `field` names. */
export function idsIn(approvals: readonly Approval[] | '*', field: string): string[] {
  const identities = approvals === '*' ? [] : approvals.filter((approval) => typeof approval === 'object')
  return identities.flatMap((one) =>
    Object.entries(one).flatMap(([name, id]) => (name === field && typeof id === 'string' ? [id] : [])),
  )
}

/** An agent's approvals, the meaning of their names when they were saved, and the agent's tools in order. */
export interface StoredApprovals {
  approvals: ToolChoice['approvals']
  approvalsExpireAfterS: number | null
  named: NamedTools
  configured: ConfiguredTools
  /** The agents that it may ask, as they were chosen. */
  agentTools: AgentTool[]
}

/** Returns a fragment for `StoredApprovals` of the agent `a`. */
export const storedApprovals = (sql: AnySql): Fragment => sql`
  json_build_object('approvals', a.approvals, 'approvalsExpireAfterS', a.approvals_expire_after_s, 'named', a.approval_names, 'configured', ${configuredOf(sql)},
    'agentTools', (${choiceOf(sql)}) -> 'agentTools')`

/**
 * Keeps what the names in the agent's approvals mean now beside what they meant before: a name that has moved to
 * another tool protects both. Names that are gone are forgotten. To be called with the agent's row locked.
 */
export async function keepNames(sql: AnySql, agentId: string, workOut: WorkOutNames): Promise<void> {
  const [row] = await sql<{ stored: StoredApprovals }[]>`
    select ${storedApprovals(sql)} as stored from agents a where a.id = ${agentId}`
  if (row === undefined) return
  const { stored } = row
  const names = stored.approvals === '*' ? [] : stored.approvals.filter((approval) => typeof approval === 'string')
  const now = workOut(names, stored.configured)
  const before = new Map(Object.entries(stored.named)) // a tool may be called `constructor`
  const kept = names.map((name) => [name, withoutDoubles([...(before.get(name) ?? []), ...(now[name] ?? [])])])
  const text = JSON.stringify(Object.fromEntries(kept))
  await sql`
    update agents set approval_names = ${text}::text::jsonb
     where id = ${agentId} and approval_names <> ${text}::text::jsonb`
}

/** Works out the names that older versions have saved. Any number of instances may call it at once. */
export async function keepOldNames(sql: Sql, workOut: WorkOutNames): Promise<void> {
  const agents = await sql<{ id: string }[]>`
    select id from agents
     where jsonb_typeof(approvals) = 'array'
       and exists (select 1 from jsonb_array_elements(approvals) as saved (approval)
                    where jsonb_typeof(approval) = 'string' and not approval_names ? (approval #>> '{}'))`
  for (const { id } of agents) {
    await sql.begin(async (tx) => {
      await tx`select 1 from agents where id = ${id} for no key update`
      await keepNames(tx, id, workOut)
    })
  }
}
