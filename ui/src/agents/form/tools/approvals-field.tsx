/** The tools whose calls wait for an approval. */
import { NumberInput, TagsInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { AgentValues } from '../../agent-values.ts'
import classes from '../../agents.module.css'
import { approvalsOf, labelOf } from '../../approvals.ts'
import { useKnownTools } from '../../use-known-tools.ts'

export function ApprovalsField({ form }: { form: UseFormReturnType<AgentValues> }) {
  const { approvals } = form.values
  const known = useKnownTools(form.values)
  return (
    <>
      <TagsInput
        label="Approvals"
        description="Calls to these tools wait until somebody approves them. Empty: none does."
        placeholder="Name of a tool, or *"
        maw={560}
        clearable
        splitChars={[]}
        data={['*', ...known.map(({ label }) => label)]}
        value={approvals.map((approval) => labelOf(approval, known))}
        onChange={(labels) => form.setFieldValue('approvals', approvalsOf(labels, approvals, known))}
        error={form.errors.approvals}
      />
      <details className={classes.more}>
        <summary>How tools are named here</summary>
        <p>
          Choose tools, which stay chosen whatever they are called later, or type names that the model sees:
          server__tool for MCP, server__* for all tools of a server, * for every tool. A name that no tool has makes
          every call wait.
        </p>
        <p>
          Behind a tool, <code>{'when {…}'}</code> (a JSON Schema) asks only for calls whose arguments match;{' '}
          <code>remember session</code> or <code>remember user</code> lets client secrets have decisions remembered.
        </p>
      </details>
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
