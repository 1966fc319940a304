import { ActionIcon, Autocomplete, Button, Group, Input, Select, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wordsOf } from '../../api.ts'
import classes from '../../blocks/forms/forms.module.css'
import { useRefusal } from '../../login/roles.ts'
import { providerResource } from '../../providers/resource.ts'
import { useModels } from '../../providers/use-models.ts'
import type { AgentValues } from '../agent-values.ts'

/** The most that the server accepts. */
const MAX_FALLBACKS = 3

type Fallback = AgentValues['fallbacks'][number]

/** Other models, in the order in which they are asked. */
export function FallbacksField({ form }: { form: UseFormReturnType<AgentValues> }) {
  const { fallbacks, providerId } = form.values
  const set = (rows: Fallback[]) => form.setFieldValue('fallbacks', rows)
  const errors = Object.entries(form.errors).filter(([path]) => path.startsWith('fallbacks'))
  return (
    <Input.Wrapper
      labelElement="div"
      label="Fallbacks"
      description="Tried in this order until one begins to answer. Every call starts with the model above."
      error={errors[0]?.[1]}
      data-path="fallbacks"
    >
      <Stack gap={8} mt={8} align="stretch">
        {fallbacks.map((fallback, index) => (
          <FallbackRow
            key={index}
            number={index + 1}
            fallback={fallback}
            onChange={(row) => set(fallbacks.with(index, row))}
            onRemove={() => set(fallbacks.toSpliced(index, 1))}
          />
        ))}
        {fallbacks.length < MAX_FALLBACKS && (
          <Button
            variant="default"
            size="xs"
            style={{ alignSelf: 'flex-start' }}
            leftSection={<IconPlus size={14} stroke={1.7} aria-hidden />}
            onClick={() => set([...fallbacks, { providerId, model: '' }])}
          >
            Add a fallback
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  )
}

interface FallbackRowProps {
  number: number
  fallback: Fallback
  onChange: (fallback: Fallback) => void
  onRemove: () => void
}

function FallbackRow({ number, fallback: { providerId, model }, onChange, onRemove }: FallbackRowProps) {
  const { data: providers } = useQuery(providerResource.all)
  const isKnown = providers?.some(({ id }) => id === providerId) === true
  const { test, models, onFocus, ask } = useModels(providerId, { isKnown, model })
  const refusal = useRefusal('change', providerResource.path)
  const [isAsked, setAsked] = useState(false)
  return (
    <div>
      <div className={classes.headerRow}>
        <Select
          aria-label={`Provider of fallback ${number}`}
          placeholder="Provider"
          searchable
          allowDeselect={false}
          data={providers?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          value={isKnown ? providerId : null}
          onChange={(id) => onChange({ providerId: id ?? '', model })}
        />
        <Autocomplete
          aria-label={`Model of fallback ${number}`}
          placeholder="Model"
          limit={100}
          data={models}
          onFocus={onFocus}
          spellCheck={false}
          value={model}
          onChange={(text) => onChange({ providerId, model: text })}
        />
        <Group gap={4} wrap="nowrap">
          <Button
            variant="default"
            aria-label={`Test fallback ${number}`}
            loading={isAsked && test.isFetching}
            disabled={!isKnown || refusal !== undefined}
            title={refusal}
            onClick={() => {
              setAsked(true)
              ask()
            }}
          >
            Test
          </Button>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={`Remove fallback ${number}`}
            onClick={onRemove}
          >
            <IconX size={16} stroke={1.7} />
          </ActionIcon>
        </Group>
      </div>
      <Text fz="xs" c={test.data?.ok === false || test.error ? 'red' : 'dimmed'} mt={4} role="status">
        {isAsked && !test.isFetching && outcomeOf(test, model)}
      </Text>
    </div>
  )
}

function outcomeOf({ data, error }: ReturnType<typeof useModels>['test'], model: string): string {
  if (error) return wordsOf(error)
  if (!data) return ''
  if (!data.ok) return data.message
  const lists = data.models.includes(model) ? 'and lists the model' : 'but does not list this model'
  return `Answers in ${data.latencyMs} ms, ${lists}.`
}
