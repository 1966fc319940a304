/** The arguments that the model provides, as a form or as JSON. */
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Input,
  JsonInput,
  NativeSelect,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './http-tools.module.css'
import {
  type ArgumentRow,
  argumentTypes,
  namesIn,
  newRow,
  type SchemaDraft,
  switched,
  withArguments,
} from './schema-draft.ts'

interface SchemaFieldProps {
  draft: SchemaDraft
  onChange: (draft: SchemaDraft) => void
  /** Arguments that the templates use. */
  places: string[]
  error: ReactNode
}

export function SchemaField({ draft, onChange, places, error }: SchemaFieldProps) {
  const other = switched(draft)
  return (
    <Stack gap="md" data-path="inputSchema">
      <Group justify="space-between" gap="xs">
        <Places draft={draft} onChange={onChange} places={places} />
        <SegmentedControl
          size="xs"
          aria-label="Edit the arguments as"
          value={draft.mode}
          disabled={other === null}
          onChange={() => other && onChange(other)}
          data={[
            { value: 'rows', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </Group>
      {draft.mode === 'rows' ? (
        <Rows rows={draft.rows} onChange={(rows) => onChange({ ...draft, rows })} />
      ) : (
        <JsonInput
          aria-label="JSON Schema of the arguments"
          autosize
          minRows={8}
          maxRows={30}
          spellCheck={false}
          value={draft.text}
          onChange={(text) => onChange({ mode: 'json', text })}
        />
      )}
      {draft.mode === 'json' && other === null && (
        <Text fz="xs" c="dimmed">
          This schema is edited as JSON: the form shows objects whose properties have simple types, without numbers that
          it would write otherwise.
        </Text>
      )}
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}

function Places({ draft, onChange, places }: Omit<SchemaFieldProps, 'error'>) {
  const known = namesIn(draft)
  const missing = places.filter((name) => name !== '' && !known.includes(name))
  if (places.length === 0) {
    return (
      <Text fz="sm" c="dimmed">
        Arguments without a place in a template go into the query or a JSON body.
      </Text>
    )
  }
  return (
    <div className={classes.places}>
      <Text fz="sm" c="dimmed" component="span">
        In the templates:
      </Text>
      {places.map((name) => (
        <span key={name} className={classes.place}>
          {name || '(no name)'}
        </span>
      ))}
      {missing.length > 0 && (
        <Button variant="light" size="compact-xs" onClick={() => onChange(withArguments(draft, missing))}>
          {missing.length === places.length ? 'Describe them below' : `Add ${missing.join(', ')}`}
        </Button>
      )}
    </div>
  )
}

function Rows({ rows, onChange }: { rows: ArgumentRow[]; onChange: (rows: ArgumentRow[]) => void }) {
  return (
    <Stack gap={8}>
      {rows.length > 0 && (
        <div className={`${classes.row} ${classes.columns}`} aria-hidden>
          <span>Name</span>
          <span>Type</span>
          <span>Description</span>
        </div>
      )}
      {rows.map((row, index) => (
        <Row
          key={index}
          row={row}
          number={index + 1}
          onChange={(part) => onChange(rows.map((one, at) => (at === index ? { ...one, ...part } : one)))}
          onRemove={() => onChange(rows.filter((_, at) => at !== index))}
        />
      ))}
      {rows.length === 0 && (
        <Text fz="sm" c="dimmed">
          No arguments are described, so the model may pass anything and will have to guess.
        </Text>
      )}
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, newRow()])}
        >
          Add an argument
        </Button>
      </div>
    </Stack>
  )
}

interface RowProps {
  row: ArgumentRow
  number: number
  onChange: (part: Partial<ArgumentRow>) => void
  onRemove: () => void
}

function Row({ row: { name, type, description, required }, number, onChange, onRemove }: RowProps) {
  return (
    <div className={classes.row}>
      <TextInput
        aria-label={`Name of argument ${number}`}
        placeholder="city"
        spellCheck={false}
        value={name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <NativeSelect
        aria-label={`Type of argument ${number}`}
        data={[...argumentTypes]}
        value={type}
        onChange={({ currentTarget }) => {
          const picked = argumentTypes.find((one) => one === currentTarget.value)
          if (picked) onChange({ type: picked })
        }}
      />
      <TextInput
        className={classes.wide ?? ''}
        aria-label={`Description of argument ${number}`}
        placeholder="What the model should provide"
        value={description}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
      <Checkbox
        label="Required"
        aria-label={`Argument ${number} is required`}
        checked={required}
        onChange={({ currentTarget }) => onChange({ required: currentTarget.checked })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size={36}
        aria-label={`Remove argument ${name || number}`}
        onClick={onRemove}
      >
        <IconX size={16} stroke={1.7} />
      </ActionIcon>
    </div>
  )
}
