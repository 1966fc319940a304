/** The draft of an agent at the server: reads and writes. */
import { queryOptions } from '@tanstack/react-query'
import {
  type Agent,
  type AgentFields,
  type AgentTools,
  agentPath,
  agentResource,
  toolsPath,
} from '../agents/resource.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import type { AgentVersion } from './queries.ts'

const query = { draft: 'true' } as const

// Each of the draft's two records has a tag of its own, which tells of the whole draft too.
const draftPath = (id: string): string => `${agentPath(id)}?draft=true`
const draftToolsPath = (id: string): string => `${toolsPath(id)}?draft=true`

/** Holds the draft as it was read last. */
export function holdDraft(id: string, edits: Edits): void {
  edits.hold(draftPath(id))
  edits.hold(draftToolsPath(id))
}

export interface Draft {
  agent: Agent
  tools: AgentTools
}

/** Returns the query of the agent and its tools as the draft has them; the live ones where there is none. */
export const draftOf = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'draft', id],
    queryFn: async ({ signal }): Promise<Draft> => {
      const tools = await api.GET('/api/v1/agents/{agent_id}/tools', {
        params: { path: { agent_id: id }, query },
        signal,
      })
      return { agent: await api.GET('/api/v1/agents/{id}', { params: { path: { id }, query }, signal }), tools }
    },
  })

/** Changes the draft by a form's fields, or begins one. */
export async function saveDraft(
  id: string,
  { tools, ...body }: AgentFields & { tools: AgentTools },
  edits: Edits,
): Promise<Agent> {
  try {
    const agent = await edits.put(draftPath(id), (headers) =>
      api.PUT('/api/v1/agents/{id}', { params: { path: { id }, query }, body, headers }),
    )
    const params = { path: { agent_id: id }, query }
    await edits.put(draftToolsPath(id), (headers) =>
      api.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools, headers }),
    )
    return agent
  } finally {
    agentResource.changed()
  }
}

/** Makes the draft that was read the live version. The tools are read first, and written last. */
export const publishDraft = (id: string, edits: Edits): Promise<AgentVersion> =>
  edits
    .put(draftToolsPath(id), (headers) =>
      api.POST('/api/v1/agents/{id}/publish', { params: { path: { id } }, headers }),
    )
    .finally(agentResource.changed)

export const discardDraft = (id: string): Promise<unknown> =>
  api.DELETE('/api/v1/agents/{id}/draft', { params: { path: { id } } }).finally(agentResource.changed)
