import { Autocomplete, Button, Select, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { withButton } from '../../blocks/forms/with-button.tsx'
import { plural } from '../../blocks/words.ts'
import { useRefusal } from '../../login/roles.ts'
import { providerResource } from '../../providers/resource.ts'
import { useModels } from '../../providers/use-models.ts'
import type { AgentValues } from '../agent-values.ts'

interface ModelFieldsProps {
  form: UseFormReturnType<AgentValues>
  onNewProvider: () => void
}

/** The provider, and a model that it lists or any other by its name. */
export function ModelFields({ form, onNewProvider }: ModelFieldsProps) {
  const { providerId, model } = form.values
  const { data: providers } = useQuery(providerResource.all)
  const isKnown = providers?.some(({ id }) => id === providerId) === true
  const { test, models, onFocus } = useModels(providerId, { isKnown, model })
  const field = form.getInputProps('model')
  const refusal = useRefusal('change', providerResource.path)
  return (
    <>
      <Select
        label="Provider"
        placeholder="Pick one"
        withAsterisk
        searchable
        allowDeselect={false}
        nothingFoundMessage="No results"
        inputContainer={withButton(
          <Button
            variant="default"
            onClick={onNewProvider}
            disabled={refusal !== undefined}
            title={refusal}
            aria-label="New provider"
          >
            New
          </Button>,
        )}
        data={providers?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        {...form.getInputProps('providerId')}
        value={isKnown ? providerId : null}
        onChange={(id) => form.setFieldValue('providerId', id ?? '')}
      />
      <div>
        <Autocomplete
          label="Model"
          description="The provider’s name for it. Pick one from its list, or type any other."
          placeholder="gpt-…"
          withAsterisk
          maw={420}
          limit={100}
          data={models}
          spellCheck={false}
          {...field}
          onFocus={(event) => {
            field.onFocus(event)
            onFocus()
          }}
        />
        <Text fz="xs" c={test.data?.ok === false ? 'red' : 'dimmed'} mt="xs" role="status">
          {isKnown && listWords(test)}
        </Text>
      </div>
    </>
  )
}

function listWords({ data, isFetching, error }: ReturnType<typeof useModels>['test']): string {
  if (isFetching) return 'Asking the provider for its models…'
  if (error) return 'The provider’s models could not be listed. You can type any name.'
  if (!data) return ''
  if (!data.ok) return `The provider did not respond correctly: ${data.message}`
  return data.models.length === 0
    ? 'The provider lists no models: type the name.'
    : `The provider lists ${plural(data.models.length, 'model')}.`
}
