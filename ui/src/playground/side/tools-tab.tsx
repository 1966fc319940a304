import type { UseFormReturnType } from '@mantine/form'
import type { AgentValues } from '../../agents/agent-values.ts'
import { ApprovalsField } from '../../agents/form/tools/approvals-field.tsx'
import { ToolsField } from '../../agents/form/tools/tools-field.tsx'

/** The tools and their approvals, as in the agent's form. */
export default function ToolsTab({ form }: { form: UseFormReturnType<AgentValues> }) {
  return (
    <>
      {/* The session beside it is where a sign-in is tried. */}
      <ToolsField form={form} agentId={undefined} />
      <ApprovalsField form={form} />
    </>
  )
}
