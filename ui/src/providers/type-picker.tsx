import { Radio, Text } from '@mantine/core'
import classes from './providers.module.css'
import type { ProviderType } from './resource.ts'

interface TypePickerProps {
  types: ProviderType[]
  value: string | null
  onChange: (id: string) => void
}

/** The kinds of provider, each with what it is and what it needs. */
export function TypePicker({ types, value, onChange }: TypePickerProps) {
  return (
    <Radio.Group label="Type" description="The type cannot be changed later." value={value} onChange={onChange} mb="lg">
      <div className={classes.types}>
        {types.map(({ id, name, requiresApiKey }) => (
          <Radio.Card key={id} value={id} className={classes.type ?? ''} aria-label={name}>
            <Radio.Indicator size="xs" className={classes.mark ?? ''} />
            <div className={classes.typeText}>
              <Text fw={500}>{name}</Text>
              <Text fz="xs" c="dimmed">
                {requiresApiKey
                  ? 'Needs an API key'
                  : id === 'openai-compatible'
                    ? 'API key if it asks for one'
                    : 'No key needed'}
              </Text>
            </div>
          </Radio.Card>
        ))}
      </div>
      <Text c="dimmed" fz="sm" mt="md" role="status">
        {types.find(({ id }) => id === value)?.description ?? ''}
      </Text>
    </Radio.Group>
  )
}
