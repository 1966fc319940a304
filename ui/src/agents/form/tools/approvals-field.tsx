/** The tools whose calls wait for an approval. */
import { NumberInput, TagsInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { AgentValues } from '../../agent-values.ts'
import { approvalsOf, labelOf } from '../../approvals.ts'
import { useKnownTools } from '../../use-known-tools.ts'

export function ApprovalsField({ form }: { form: UseFormReturnType<AgentValues> }) {
  const { approvals } = form.values
  const known = useKnownTools(form.values)
  return (
    <>
      <TagsInput
        label="Approvals"
        description="Calls to these tools wait until somebody approves them, whatever the tools are called later. Choose tools, or type names that the model sees (server__tool for MCP); server__* means all tools of a server, * every tool. Behind a tool, `when {…}` (a JSON Schema) asks only for calls whose arguments match, and `remember session` or `remember user` lets client secrets have decisions remembered. A name that no tool has makes every call wait. While it is empty, no call waits."
        placeholder="Name of a tool, or *"
        maw={560}
        clearable
        data={['*', ...known.map(({ label }) => label)]}
        value={approvals.map((approval) => labelOf(approval, known))}
        onChange={(labels) => form.setFieldValue('approvals', approvalsOf(labels, approvals, known))}
        error={form.errors.approvals}
      />
      <NumberInput
        label="Approvals expire after"
        description="Seconds, 60 to 7,776,000: calls that nobody has decided are rejected then. Empty: never."
        maw={280}
        min={60}
        max={7_776_000}
        allowDecimal={false}
        value={form.values.approvalsExpireAfterS ?? ''}
        onChange={(value) => form.setFieldValue('approvalsExpireAfterS', value === '' ? null : Number(value))}
        error={form.errors.approvalsExpireAfterS}
      />
    </>
  )
}
