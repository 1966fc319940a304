/** The rare actions on a message, behind "…", each with its words. */
import { ActionIcon, Button, Popover, Stack, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { IconCursorText, IconDots, IconGitFork, IconLink } from '@tabler/icons-react'
import { wordsOf } from '../../api.ts'
import { copyText } from '../../blocks/copy.tsx'
import type { ShownMessage } from '../connection/live-reply.ts'
import type { MessageActions } from '../transcript/message-actions.ts'

interface MoreActionsProps {
  id: string
  isReply: boolean
  actions: MessageActions
  /** The message as it is when a button is pressed. */
  current: () => ShownMessage
}

export function MoreActions({ id, isReply, actions: { fork, forkWithin, linkTo }, current }: MoreActionsProps) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const copyLink = (link: string) =>
    copyText(link).then(
      () => notifications.show({ message: 'The link is copied.' }),
      (error: unknown) => notifications.show({ color: 'red', message: wordsOf(error) }),
    )
  const ways = [
    { label: 'Copy a link to this message', icon: IconLink, act: linkTo && (() => copyLink(linkTo(id))) },
    { label: 'Fork from here', icon: IconGitFork, act: fork && (() => fork(id)) },
    {
      label: 'Branch from this word',
      icon: IconCursorText,
      act: isReply ? forkWithin && (() => forkWithin(current())) : null,
    },
  ]
  const possible = ways.filter(({ act }) => act !== null)
  if (possible.length === 0) return null
  return (
    <Popover opened={isOpen} onChange={close} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label="More">
          <ActionIcon variant="subtle" color="gray" aria-label="More" aria-expanded={isOpen} onClick={toggle}>
            <IconDots size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p={4}>
        <Stack gap={0}>
          {possible.map(({ label, icon: Icon, act }) => (
            <Button
              key={label}
              variant="subtle"
              color="gray"
              size="xs"
              justify="flex-start"
              leftSection={<Icon size={16} stroke={1.7} aria-hidden />}
              onClick={() => {
                close()
                void act?.()
              }}
            >
              {label}
            </Button>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
