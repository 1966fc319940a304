/** The tools whose calls wait for an approval. */
import { TagsInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { builtInTools } from '../../built-in-tools/queries.ts'
import { httpToolResource } from '../../http-tools/resource.ts'
import type { AgentValues } from '../agent-values.ts'
import { plainName } from '../tool-names.ts'

export function ApprovalsField({ form }: { form: UseFormReturnType<AgentValues> }) {
  const { httpToolIds, builtInToolIds } = form.values
  const http = useQuery(httpToolResource.all).data ?? []
  const builtIn = useQuery(builtInTools).data ?? []
  const chosen = [
    ...http.filter(({ id }) => httpToolIds.includes(id)),
    ...builtIn.filter(({ id }) => builtInToolIds.includes(id)),
  ]
  const names = chosen.map(({ name }) => plainName(name))
  return (
    <TagsInput
      label="Approvals"
      description="Calls to these tools wait until somebody approves them. Use the names that the model sees, server__tool for MCP; * means every tool. Empty: no call waits."
      placeholder="Name of a tool, or *"
      maw={560}
      clearable
      data={[...new Set(['*', ...names])]}
      value={form.values.approvals}
      onChange={(approvals) => form.setFieldValue('approvals', approvals)}
      error={form.errors.approvals}
    />
  )
}
