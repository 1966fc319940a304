import type { UseFormReturnType } from '@mantine/form'
import type { AgentValues } from '../../agents/agent-values.ts'
import { ApprovalsField } from '../../agents/form/tools/approvals-field.tsx'
import { ToolsField } from '../../agents/form/tools/tools-field.tsx'

interface ToolsTabProps {
  form: UseFormReturnType<AgentValues>
  agentId: string
}

/** The tools and their approvals, as in the agent's form. */
export default function ToolsTab({ form, agentId }: ToolsTabProps) {
  return (
    <>
      <ToolsField form={form} agentId={agentId} />
      <ApprovalsField form={form} />
    </>
  )
}
