/** Versions of agents: what each was, and the live one (contract section 28). */
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { isoTime, type Page, type PageQuery } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { type SnapshotRow, type WholeSnapshot, wholeOf } from './snapshot.ts'

export interface Version {
  number: number
  /** ISO 8601 UTC. */
  createdAt: string
  createdBy: string | null
  note: string | null
  live: boolean
}

const columns = (sql: AnySql) => sql`
  v.number, ${isoTime(sql, 'v.created_at')} as "createdAt", v.created_by as "createdBy", v.note,
  v.number = max(v.number) over () as live`

/** Lists the versions of an agent, newest first. */
export async function listVersions(sql: AnySql, agentId: string, { limit, offset }: PageQuery): Promise<Page<Version>> {
  const rows = await sql<(Version & { total: number })[]>`
    select ${columns(sql)}, (count(*) over ())::integer as total from agent_versions v
     where v.agent_id = ${agentId} order by v.number desc limit ${limit} offset ${offset}`
  const total = rows[0]?.total ?? (await countVersions(sql, agentId))
  return { items: rows.map(({ total: _, ...version }) => version), total }
}

async function countVersions(sql: AnySql, agentId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total from agent_versions where agent_id = ${agentId}`
  return row?.total ?? 0
}

/** Reads a number from a path or a request. Null for anything but a whole number. */
export const numberIn = (text: string): number | null => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null)

/** Finds a version with what it holds. Null when the agent has none of this number. */
export async function findVersion(
  sql: AnySql,
  agentId: string,
  number: number | null,
): Promise<(Version & { held: WholeSnapshot }) | null> {
  if (!isUuid(agentId) || number === null) return null
  const [row] = await sql<(Version & SnapshotRow)[]>`
    select * from (select ${columns(sql)}, v.config::text, v.prompt, v.names from agent_versions v where v.agent_id = ${agentId}) all_of
     where number = ${number}`
  if (row === undefined) return null
  const { config, prompt, names, ...version } = row
  return { ...version, held: wholeOf({ config, prompt, names }) }
}

/** Makes a version of what the agent is now, unless the live version holds the same. Returns the number of the live one. */
export async function makeVersion(tx: Tx, agentId: string, note: string | null = null): Promise<number> {
  const [row] = await tx<{ number: number | null }[]>`select make_agent_version(${agentId}, ${note}) as number`
  return row?.number ?? 0
}

/** Makes the first version of agents that are older than versions. Any number of instances may call it at once. */
export const versionOldAgents = (sql: AnySql) => sql`
  select make_agent_version(a.id, null)
    from (select id from agents x
           where not exists (select from agent_versions v where v.agent_id = x.id) order by id) a`

/** Returns the version with which a reply began, null where it is not known, and how many MCP calls in a row led to it. */
export async function begunFacts(
  sql: AnySql,
  replyId: string,
): Promise<{ version: number | 'draft' | null; depth: number | undefined }> {
  const [row] = await sql<{ facts: unknown }[]>`select facts from messages where id = ${replyId}`
  const facts = decodeFacts(row?.facts ?? null)
  return { version: facts?.agentVersion ?? null, depth: facts?.depth }
}
