/** The bar of the draft: its changes, to be published or discarded. */
import { Badge, Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { fieldsOf, valuesOf } from '../agents/agent-values.ts'
import { agentResource, agentTools } from '../agents/resource.ts'
import { createEdits, type Edits } from '../blocks/editing/edits.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { tellUndoable } from '../blocks/messages/undoable.tsx'
import { useRefusal } from '../login/roles.ts'
import { type Draft, discardDraft, publishDraft, saveDraft } from './draft.ts'
import { changedFields } from './held.ts'
import classes from './versions.module.css'

interface DraftBarProps {
  agentId: string
  draft: Draft
  /** The holds on the draft as it is shown. */
  edits: Edits
  /** Whether something is typed that is not in the draft yet. */
  isTyped: boolean
}

export function DraftBar({ agentId, draft, edits, isTyped }: DraftBarProps) {
  const live = useQuery(agentResource.one(agentId)).data
  const tools = useQuery(agentTools(agentId)).data
  const refusal = useRefusal('change', `/agents/${agentId}`)
  const publishing = useMutation({
    mutationFn: () => publishDraft(agentId, edits),
    onSuccess: ({ number }) => notifications.show({ message: `Published: version ${number} is live.` }),
  })
  const discarding = useMutation({
    mutationFn: () => discardDraft(agentId),
    onSuccess: () =>
      tellUndoable('The draft is discarded.', () =>
        saveDraft(agentId, fieldsOf(valuesOf(draft.agent, draft.tools)), createEdits()),
      ),
  })
  const changed = live && tools ? changedFields({ ...live, ...tools }, { ...draft.agent, ...draft.tools }) : []
  const isBusy = publishing.isPending || discarding.isPending
  return (
    <fieldset className={classes.draft} aria-label="Draft">
      <Group gap="xs">
        <Badge color="gray" variant="light" tt="none">
          Draft
        </Badge>
        <Text fz="sm" className={classes.draftWords ?? ''} role="status">
          {changed.length === 0 ? 'The playground uses it.' : `Changes ${changed.join(', ')}. The playground uses it.`}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Button
            size="compact-sm"
            loading={publishing.isPending}
            disabled={refusal !== undefined || isTyped || isBusy}
            title={refusal ?? (isTyped ? 'Save the draft first.' : undefined)}
            onClick={() => publishing.mutate()}
          >
            Publish
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            loading={discarding.isPending}
            disabled={refusal !== undefined || isBusy}
            title={refusal}
            onClick={() => discarding.mutate()}
          >
            Discard
          </Button>
        </Group>
      </Group>
      <ErrorAlert error={publishing.error ?? discarding.error} />
    </fieldset>
  )
}
