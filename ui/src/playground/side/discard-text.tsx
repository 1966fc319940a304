import { Button, Group, Modal, Text } from '@mantine/core'

interface DiscardTextProps {
  isAsked: boolean
  onDiscard: () => void
  onKeep: () => void
}

/** Asks before a prompt is chosen while the draft has a text of its own. */
export const DiscardText = ({ isAsked, onDiscard, onKeep }: DiscardTextProps) => (
  <Modal opened={isAsked} onClose={onKeep} title="Discard the edited text?">
    <Text mb="lg">
      The text of the draft is its own, and is kept nowhere else. The other prompt has a text of its own.
    </Text>
    <Group justify="flex-end">
      <Button variant="default" onClick={onDiscard}>
        Discard it
      </Button>
      <Button onClick={onKeep} data-autofocus>
        Keep editing
      </Button>
    </Group>
  </Modal>
)
