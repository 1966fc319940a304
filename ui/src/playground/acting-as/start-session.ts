/** Begins a session of a user, with metadata. */
import { api } from '../../api.ts'
import { sessionsChanged } from '../queries.ts'

export interface MetadataRow {
  name: string
  value: string
}

export const rowsOf = (metadata: Readonly<Record<string, string>>): MetadataRow[] =>
  Object.entries(metadata).map(([name, value]) => ({ name, value }))

/** Returns the metadata of the rows. Rows without a name are left out; the server checks the rest. */
export const metadataOf = (rows: readonly MetadataRow[]): Record<string, string> =>
  Object.fromEntries(rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]))

/** Resolves to its id. */
export async function startSession(
  agentId: string,
  body: { user: string | null; metadata: Record<string, string> },
): Promise<string> {
  const { id } = await api.POST('/api/v1/agents/{agent_id}/playground/sessions', {
    params: { path: { agent_id: agentId } },
    body,
  })
  sessionsChanged(agentId)
  return id
}
