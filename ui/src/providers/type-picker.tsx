import { Radio, Text } from '@mantine/core'
import { IconBrandGoogle, IconBrandOpenai, IconFlask, IconServer2 } from '@tabler/icons-react'
import classes from './providers.module.css'
import type { ProviderType } from './resource.ts'

interface TypePickerProps {
  types: ProviderType[]
  value: string | null
  onChange: (id: string) => void
  /** Whether the first type has the focus as soon as it is there. */
  isFirst?: boolean
}

/** The kinds of provider, each with what it is and what it needs. */
export function TypePicker({ types, value, onChange, isFirst = false }: TypePickerProps) {
  return (
    <Radio.Group label="Type" description="The type cannot be changed later." value={value} onChange={onChange} mb="lg">
      <div className={classes.types}>
        {types.map(({ id, name, requiresApiKey }, index) => (
          <Radio.Card
            key={id}
            value={id}
            className={classes.type ?? ''}
            aria-label={name}
            autoFocus={isFirst && index === 0}
            data-autofocus={(isFirst && index === 0) || undefined}
          >
            <Mark id={id} name={name} />
            <div className={classes.typeText}>
              <Text fw={500}>{name}</Text>
              <Text fz="xs" c="dimmed">
                {requiresApiKey
                  ? 'Needs an API key'
                  : id === 'openai-compatible'
                    ? 'API key optional'
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

const drawn: Readonly<Record<string, typeof IconServer2>> = {
  openai: IconBrandOpenai,
  gemini: IconBrandGoogle,
  'openai-compatible': IconServer2,
  demo: IconFlask,
}

/** The maker's sign where the icons have it, else the beginning of its name. */
function Mark({ id, name }: Pick<ProviderType, 'id' | 'name'>) {
  const Drawn = drawn[id]
  return (
    <span className={classes.mark} aria-hidden>
      {Drawn ? <Drawn size={18} stroke={1.7} /> : name.slice(0, 2)}
    </span>
  )
}
