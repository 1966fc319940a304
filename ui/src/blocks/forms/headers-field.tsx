import { ActionIcon, Button, Input, Stack, TextInput } from '@mantine/core'
import { IconLock, IconPlus, IconX } from '@tabler/icons-react'
import { TemplateInput } from '../../templates/template-input.tsx'
import type { TemplateRules } from '../../templates/template-names.ts'
import { Notice } from '../messages/notice.tsx'
import classes from './forms.module.css'
import { type HeaderRow, hiddenValue } from './header-rows.ts'

interface HeadersFieldProps {
  rows: HeaderRow[]
  onChange: (rows: HeaderRow[]) => void
  /** The server's message. */
  error?: React.ReactNode
  /** Whether stored secrets belong to another server than the one that the form names. */
  moves: boolean
  /** The names that values may use in double braces. When absent, they are no templates. */
  rules?: TemplateRules
}

/** Names and values. A stored secret is shown as `***`, and replaced by typing over it. */
export function HeadersField({ rows, onChange, error, moves, rules }: HeadersFieldProps) {
  const change = (at: number, part: Partial<HeaderRow>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <Input.Wrapper
      labelElement="div"
      label="Headers"
      description="Sent with every request. Secrets (authorization, api-key, token…) are encrypted and shown as ***."
      error={error}
      data-path="headers"
    >
      <Stack gap={8} mt={8} align="stretch">
        {moves && (
          <Notice>
            The URL names another server. Enter the secret values again: a stored secret is sent only to the server that
            it was stored for.
          </Notice>
        )}
        {rows.map(({ name, value }, index) => (
          <div key={index} className={classes.headerRow}>
            <TextInput
              aria-label={`Name of header ${index + 1}`}
              placeholder="authorization"
              value={name}
              onChange={({ currentTarget }) => change(index, { name: currentTarget.value })}
            />
            <HeaderValue
              label={`Value of header ${index + 1}`}
              value={value}
              onText={(text) => change(index, { value: text })}
              rules={rules}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove header ${name || index + 1}`}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            >
              <IconX size={16} stroke={1.7} />
            </ActionIcon>
          </div>
        ))}
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => onChange([...rows, { name: '', value: '' }])}
          >
            Add a header
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  )
}

interface HeaderValueProps {
  label: string
  value: string
  onText: (text: string) => void
  rules: TemplateRules | undefined
}

function HeaderValue({ label, value, onText, rules }: HeaderValueProps) {
  const isHidden = value === hiddenValue
  const shared = {
    'aria-label': label,
    placeholder: 'Bearer …',
    autoComplete: 'off',
    value,
    rightSection: isHidden && <IconLock size={15} stroke={1.7} aria-label="Stored encrypted" />,
    onFocus: ({ currentTarget }: { currentTarget: { select(): void } }) => isHidden && currentTarget.select(),
  }
  return rules ? (
    <TemplateInput oneLine rules={rules} onText={onText} {...shared} />
  ) : (
    <TextInput {...shared} onChange={({ currentTarget }) => onText(currentTarget.value)} />
  )
}
