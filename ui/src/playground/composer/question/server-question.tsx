/** The question of an MCP server while it carries out a call: a form made from its schema, or a page to visit. */
import { Anchor, Button, Checkbox, Group, MultiSelect, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useState } from 'react'
import type { Decision, PendingCall } from '../../queries.ts'
import classes from './question.module.css'
import { type FormField, fieldsOf, formContent, initialValues, type Values } from './question-form.ts'

interface ServerQuestionProps {
  call: PendingCall
  onDecide: (choice: Omit<Decision, 'call_id'>) => void
}

export function ServerQuestion({ call, onDecide }: ServerQuestionProps) {
  const { server, message, key, schema, url } = call
  const fields = schema === undefined ? [] : fieldsOf(schema)
  const [values, setValues] = useState<Values>(() => initialValues(fields))
  const send = () => {
    const content = schema === undefined ? {} : { content: formContent(fields, values) }
    onDecide({ decision: 'answer', ...(key !== undefined && { key }), ...content })
  }
  const refuse = (decision: 'decline' | 'cancel') => onDecide({ decision, ...(key !== undefined && { key }) })
  return (
    <form
      noValidate
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Text fz="xs" c="dimmed">
        The MCP server “{server}” asks:
      </Text>
      <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{message}</Text>
      {fields.map((field) => (
        <QuestionField
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {url !== undefined && <Visit url={url} />}
      <Group gap="sm">
        <Button size="sm" type="submit">
          {url === undefined ? 'Send' : 'I have done it'}
        </Button>
        <Button size="sm" variant="default" onClick={() => refuse('decline')}>
          Decline
        </Button>
        <Button size="sm" variant="subtle" onClick={() => refuse('cancel')}>
          Cancel
        </Button>
      </Group>
    </form>
  )
}

/** A link to another party's page: it learns neither this page nor where its visitor came from. */
const Visit = ({ url }: { url: string }) => (
  <div>
    <Text fz="sm">
      On <strong>{URL.parse(url)?.host}</strong>
    </Text>
    <Anchor href={url} target="_blank" rel="noopener noreferrer" style={{ overflowWrap: 'anywhere' }}>
      {url} <IconExternalLink size={14} aria-label="opens a new window" />
    </Anchor>
  </div>
)

interface QuestionFieldProps {
  field: FormField
  value: Values[string]
  onChange: (value: Values[string]) => void
}

function QuestionField({ field, value, onChange }: QuestionFieldProps) {
  const { kind, label, description, required, choices } = field
  const common = { label, description, withAsterisk: required }
  switch (kind) {
    case 'boolean':
      return (
        <Checkbox
          label={label}
          description={description}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          value={typeof value === 'number' || typeof value === 'string' ? value : ''}
          onChange={onChange}
        />
      )
    case 'one':
      return (
        <Select
          {...common}
          clearable
          data={choices}
          value={typeof value === 'string' ? value : null}
          onChange={(picked) => onChange(picked ?? '')}
        />
      )
    case 'many':
      return <MultiSelect {...common} data={choices} value={Array.isArray(value) ? value : []} onChange={onChange} />
    default:
      return (
        <TextInput
          {...common}
          type={field.inputType}
          value={typeof value === 'string' ? value : ''}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
  }
}
