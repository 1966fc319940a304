/** The steps of a decision that takes more than one press: edited arguments, a reason, an answer. */
import { Button, Group, Text, Textarea, TextInput } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { ArgumentFields } from '../../../http-tools/argument-fields.tsx'
import { argumentsOf, type Typed, typedOf, unlistedIn } from '../../../http-tools/arguments.ts'
import { type ArgumentRow, argumentsIn } from '../../../http-tools/schema-draft.ts'
import type { Decision, PendingCall } from '../../queries.ts'
import classes from './question.module.css'
import { useToolSchema } from './use-tool-schema.ts'

/** A decision of one call. */
export type Choice = Omit<Decision, 'call_id'>

interface StepProps {
  onDecide: (choice: Choice) => void
  onBack: () => void
}

/** A form, and below it the button that sends it beside another. */
function Form({ onSubmit, children, buttons }: { onSubmit: () => void; children: ReactNode; buttons: ReactNode }) {
  return (
    <form
      noValidate
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      <Group gap="sm">{buttons}</Group>
    </form>
  )
}

const Back = ({ onBack }: Pick<StepProps, 'onBack'>) => (
  <Button size="sm" variant="subtle" onClick={onBack}>
    Cancel
  </Button>
)

/** The arguments as a form of the tool's schema; as JSON where that is not known. */
export function Editing({ call, onDecide, onBack }: StepProps & { call: PendingCall }) {
  const schema = useToolSchema(call.name)
  const described = schema === null ? null : argumentsIn(schema)
  const known = described !== null && described.length > 0 ? described : null
  // What was typed stays in the fields that it was typed into, whatever comes to be known of the schema meanwhile.
  const [edited, setEdited] = useState<{ rows: ArgumentRow[] | null; typed: Typed } | null>(null)
  const { rows, typed } = edited ?? { rows: known, typed: typedOf(call.arguments) }
  const [error, setError] = useState<string | null>(null)
  const approve = () => {
    try {
      onDecide({ decision: 'approve', arguments: { ...unlistedIn(call.arguments, rows), ...argumentsOf(rows, typed) } })
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem))
    }
  }
  return (
    <Form
      onSubmit={approve}
      buttons={
        <>
          <Button size="sm" type="submit" leftSection={<IconCheck size={16} aria-hidden />}>
            Approve edited
          </Button>
          <Back onBack={onBack} />
        </>
      }
    >
      <ArgumentFields rows={rows} typed={typed} onChange={(now) => setEdited({ rows, typed: now })} />
      {error !== null && (
        <Text fz="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Form>
  )
}

export function Rejecting({ onDecide, onBack }: StepProps) {
  const [reason, setReason] = useState('')
  return (
    <Form
      onSubmit={() => onDecide({ decision: 'reject', ...(reason.trim() !== '' && { reason }) })}
      buttons={
        <>
          <Button size="sm" type="submit" color="red" leftSection={<IconX size={16} aria-hidden />}>
            Reject
          </Button>
          <Back onBack={onBack} />
        </>
      }
    >
      <TextInput
        label="Reason"
        description="Sent to the model. Optional."
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
        data-autofocus
      />
    </Form>
  )
}

export function Answering({ onDecide, onReject }: { onDecide: (choice: Choice) => void; onReject: () => void }) {
  const [output, setOutput] = useState('')
  return (
    <Form
      onSubmit={() => onDecide({ decision: 'respond', output })}
      buttons={
        <>
          <Button size="sm" type="submit">
            Answer
          </Button>
          <Button size="sm" variant="default" onClick={onReject}>
            Reject
          </Button>
        </>
      }
    >
      <Textarea
        label="Result"
        description="Sent to the model instead of the program’s result."
        autosize
        minRows={2}
        value={output}
        onChange={({ currentTarget }) => setOutput(currentTarget.value)}
      />
    </Form>
  )
}
