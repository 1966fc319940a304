import { Anchor, Button, Group, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
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
  const prompt = prompts?.find(({ id }) => id === value)
  return (
    <div>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <Select
          label="Prompt"
          placeholder="None"
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Use no prompt' }}
          flex={1}
          maw={420}
          nothingFoundMessage="No results"
          data={prompts?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
          value={prompt ? value : null}
          onChange={onChange}
          error={error}
          data-path="promptId"
        />
        <Button variant="default" onClick={onNew}>
          New
        </Button>
      </Group>
      <Text fz="sm" c="dimmed" mt={8} lineClamp={2}>
        {prompt ? prompt.content : 'What the model is told before every conversation. Agents work without one, too.'}
      </Text>
      {prompt && (
        <Anchor component={Link} to={`/prompts/${prompt.id}`} fz="sm">
          Open the prompt
        </Anchor>
      )}
    </div>
  )
}
