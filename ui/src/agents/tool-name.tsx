/** A tool by its own name; the name that models see is its tooltip. */
import { useQuery } from '@tanstack/react-query'
import { httpToolResource } from '../http-tools/resource.ts'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import { agentResource } from './resource.ts'
import { mayBeRenamed, ownName } from './tool-names.ts'

interface Named {
  name: string
}

const namesOf = (records: readonly Named[] | undefined): string[] => records?.map(({ name }) => name) ?? []

/** Returns a function from the name that models see to the tool's own. `seen`: those that it is asked for. */
export function useOwnNames(seen: readonly string[]): (seen: string) => string {
  const often = { staleTime: 30_000, enabled: seen.some(mayBeRenamed) }
  const http = useQuery({ ...httpToolResource.all, ...often }).data
  const agents = useQuery({ ...agentResource.all, ...often }).data
  const servers = useQuery({ ...mcpServerResource.all, ...often }).data
  const known = { names: [...namesOf(http), ...namesOf(agents)], servers: namesOf(servers) }
  return (name) => ownName(name, known)
}

export function ToolName({ seen }: { seen: string }) {
  const own = useOwnNames([seen])(seen)
  return (
    <span title={own === seen ? undefined : `Models see ${seen}`} dir="auto">
      {own}
    </span>
  )
}
