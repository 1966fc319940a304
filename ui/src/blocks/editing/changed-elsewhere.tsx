/** Shown when a save was refused because the record has been changed elsewhere: what has changed, and the two ways on. */
import { Alert, Button, Group } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { wordsOf } from '../../api.ts'

interface ChangedElsewhereProps {
  error: unknown
  onReload: () => void
  onOverwrite: () => void
}

export const ChangedElsewhere = ({ error, onReload, onOverwrite }: ChangedElsewhereProps) => (
  <Alert variant="default" role="alert" icon={<IconUsers aria-hidden />} title="Changed by somebody else meanwhile">
    {wordsOf(error)}
    <Group gap="sm" mt="sm">
      <Button size="xs" variant="default" onClick={onReload}>
        Discard mine, show the stored one
      </Button>
      <Button size="xs" variant="default" onClick={onOverwrite}>
        Save mine anyway
      </Button>
    </Group>
  </Alert>
)
