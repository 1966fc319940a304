import { ActionIcon, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

interface CopyProps {
  /** A function is asked when it is copied: where the text grows, this need not be rendered again for each word. */
  text: string | (() => string)
  /** What is copied, in words. */
  label?: string
  icon?: typeof IconCopy
}

const SAID_MS = 1_000

/** Copies `text`. */
export function Copy({ text, label = 'Copy', icon: Icon = IconCopy }: CopyProps) {
  const { copied, copy } = useClipboard({ timeout: SAID_MS })
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'accent' : 'gray'}
        aria-label={label}
        onClick={() => copy(typeof text === 'string' ? text : text())}
      >
        {copied ? <IconCheck size={16} /> : <Icon size={16} stroke={1.7} />}
      </ActionIcon>
    </Tooltip>
  )
}
