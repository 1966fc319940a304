import { Checkbox, JsonInput, Select, Textarea, TextInput } from '@mantine/core'
import type { Typed } from './arguments.ts'
import type { ArgumentRow } from './schema-draft.ts'

interface ArgumentFieldsProps {
  /** Null when the schema cannot be shown as a form. */
  rows: ArgumentRow[] | null
  typed: Typed
  onChange: (typed: Typed) => void
}

/** The fields of the arguments, one for each, or one for all as JSON. */
export function ArgumentFields({ rows, typed, onChange }: ArgumentFieldsProps) {
  if (rows === null) {
    return (
      <JsonInput
        label="Arguments"
        description="As JSON."
        autosize
        minRows={3}
        value={typed.json}
        onChange={(json) => onChange({ ...typed, json })}
      />
    )
  }
  return rows.map((row) => (
    <ArgumentField
      key={row.name}
      row={row}
      value={typed.values[row.name]}
      onChange={(value) => onChange({ ...typed, values: { ...typed.values, [row.name]: value } })}
    />
  ))
}

interface ArgumentFieldProps {
  row: ArgumentRow
  value: string | boolean | undefined
  onChange: (value: string | boolean) => void
}

function ArgumentField({ row: { name, type, description, required, rest }, value = '', onChange }: ArgumentFieldProps) {
  const common = { label: name, description, withAsterisk: required, value: String(value) }
  if (type === 'boolean') {
    return (
      <Checkbox
        label={name}
        description={description}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    )
  }
  if (type === 'string' && Array.isArray(rest.enum) && rest.enum.every((one) => typeof one === 'string')) {
    return <Select {...common} clearable data={[...new Set(rest.enum)]} onChange={(picked) => onChange(picked ?? '')} />
  }
  if (type === 'array' || type === 'object') {
    return (
      <Textarea
        {...common}
        placeholder={type === 'array' ? '["as", "JSON"]' : '{"as": "JSON"}'}
        autosize
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  }
  return (
    <TextInput
      {...common}
      inputMode={type === 'string' ? 'text' : 'decimal'}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
