import { Anchor, List, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from 'react-router'
import { allAgents } from '../agents/queries.ts'
import { DeleteButton } from '../blocks/delete-button.tsx'
import { Page } from '../blocks/page.tsx'
import { Record } from '../blocks/record.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { saved } from '../blocks/unsaved-guard.tsx'
import { PromptForm } from './prompt-form.tsx'
import { deletePrompt, type Prompt, promptById, updatePrompt } from './queries.ts'

const back = { to: '/prompts', label: 'Prompts' }

export function Component() {
  const { id = '' } = useParams()
  const query = useQuery(promptById(id))
  return (
    <Record query={query} title="Prompt" back={back}>
      {(prompt) => <PromptPage key={prompt.id} prompt={prompt} />}
    </Record>
  )
}

function PromptPage({ prompt }: { prompt: Prompt }) {
  const navigate = useNavigate()
  const { id, name, updatedAt } = prompt
  return (
    <Page
      title={name}
      description={
        <>
          Changed <RelativeTime iso={updatedAt} />. Replies that start after saving use the new text.
        </>
      }
      back={back}
      width="reading"
      actions={
        <DeleteButton
          kind="prompt"
          name={name}
          remove={() => deletePrompt(id)}
          onDeleted={() => navigate('/prompts', saved)}
        >
          Its text is lost for good. A prompt that agents use cannot be deleted.
        </DeleteButton>
      }
    >
      <PromptForm
        initial={prompt}
        save={(fields) => updatePrompt(id, fields)}
        submitLabel="Save"
        onSaved={() => notifications.show({ message: 'Saved.' })}
      />
      <UsedBy promptId={id} />
    </Page>
  )
}

function UsedBy({ promptId }: { promptId: string }) {
  const { data } = useQuery(allAgents)
  const agents = data?.filter((agent) => agent.promptId === promptId)
  return (
    <section aria-labelledby="used-by">
      <Title order={2} id="used-by" mt="lg" mb={6}>
        Used by
      </Title>
      {agents?.length === 0 && <Text c="dimmed">No agent uses this prompt yet.</Text>}
      <List spacing={4}>
        {agents?.map(({ id, name }) => (
          <List.Item key={id}>
            <Anchor component={Link} to={`/agents/${id}`}>
              {name}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </section>
  )
}
