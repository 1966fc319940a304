/** `?`: what the keyboard does. */
import { Table } from '@mantine/core'
import { Fragment } from 'react'
import { OpenedModal } from '../../blocks/late/opened-modal.tsx'
import { goKeys } from '../go-keys.ts'

const shortcuts: readonly [keys: string[], does: string][] = [
  [['Ctrl', 'K'], 'Go to a page, an agent or a session, or run an action'],
  [['?'], 'Show this list'],
  ...goKeys.map(([key, , name]): [string[], string] => [['G', key.toUpperCase()], `Go to ${name}`]),
  [['J'], 'The next one of a list; K: the one before'],
  [['Delete'], 'Delete the selected sessions, or the one that has the focus beside a conversation'],
  [['['], 'Fold the navigation to its icons'],
  [[']'], 'Fold the sessions beside the conversation'],
  [['Enter'], 'Send the message'],
  [['Shift', 'Enter'], 'Start a new line in the message'],
  [['↑'], 'Edit the last message, in an empty field'],
  [['Esc'], 'Close what is open'],
  [['Esc', 'Esc'], 'Stop the reply, in the message field or the conversation'],
]

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <OpenedModal onClose={onClose} title="Keyboard shortcuts">
      <Table aria-label="Keyboard shortcuts" verticalSpacing={8}>
        <Table.Tbody>
          {shortcuts.map(([keys, does]) => (
            <Table.Tr key={does}>
              <Table.Th w="9rem">
                {keys.map((key, place) => (
                  <Fragment key={place}>
                    {place > 0 && ' '}
                    <kbd>{key}</kbd>
                  </Fragment>
                ))}
              </Table.Th>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </OpenedModal>
  )
}
