import { Anchor, Button, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { withButton } from '../../blocks/forms/with-button.tsx'
import { useRefusal } from '../../login/roles.ts'
import { promptResource } from '../../prompts/resource.ts'

interface PromptFieldProps {
  value: string | null
  onChange: (id: string | null) => void
  error: React.ReactNode
  onNew: () => void
}

/** The prompt by name, a preview of its text, and the way to a new one. */
export function PromptField({ value, onChange, error, onNew }: PromptFieldProps) {
  const { data: prompts } = useQuery(promptResource.all)
  const refusal = useRefusal('change', promptResource.path)
  const prompt = prompts?.find(({ id }) => id === value)
  return (
    <div>
      <Select
        label="Prompt"
        description="Instructions before every conversation. Optional."
        placeholder="None"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Use no prompt' }}
        nothingFoundMessage="No results"
        inputContainer={withButton(
          <Button
            variant="default"
            onClick={onNew}
            disabled={refusal !== undefined}
            title={refusal}
            aria-label="New prompt"
          >
            New
          </Button>,
        )}
        data={prompts?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        value={prompt ? value : null}
        onChange={onChange}
        error={error}
        data-path="promptId"
      />
      {prompt && (
        <>
          <Text fz="sm" c="dimmed" mt={8} lineClamp={2}>
            {prompt.content}
          </Text>
          <Anchor component={Link} to={`/prompts/${prompt.id}`} fz="sm">
            Open the prompt
          </Anchor>
        </>
      )}
    </div>
  )
}
