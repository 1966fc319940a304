/** The draft's bar in the workbench, whose chats use the draft. */
import { Box } from '@mantine/core'
import { useEffect } from 'react'
import { useEdits } from '../blocks/editing/edits.ts'
import { useNewest } from '../blocks/editing/use-newest.ts'
import { draftOf, holdDraft } from './draft.ts'
import { DraftBar } from './draft-bar.tsx'

export function WorkbenchDraft({ agentId }: { agentId: string }) {
  const { data } = useNewest(draftOf(agentId))
  const edits = useEdits()
  useEffect(() => {
    if (data !== undefined) holdDraft(agentId, edits)
  }, [data, edits, agentId])
  return (
    data && (
      <Box px="md" pt="sm">
        <DraftBar agentId={agentId} draft={data} edits={edits} isTyped={false} />
      </Box>
    )
  )
}
