import { Button, Group, Modal, Text } from '@mantine/core'

interface DiscardTextProps {
  isAsked: boolean
  onDiscard: () => void
  onKeep: () => void
}

/** Asks before another prompt is chosen while the text of the one before has been edited. */
export const DiscardText = ({ isAsked, onDiscard, onKeep }: DiscardTextProps) => (
  <Modal opened={isAsked} onClose={onKeep} title="Discard the edited text?">
    <Text mb="lg">
      Your changes to the text of the prompt have not been saved. The other prompt has a text of its own.
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
