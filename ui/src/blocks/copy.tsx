import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

interface CopyProps {
  text: string
  /** What is copied, in words. */
  label?: string
  icon?: typeof IconCopy
}

/** Copies `text`. */
export function Copy({ text, label = 'Copy', icon: Icon = IconCopy }: CopyProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color={copied ? 'accent' : 'gray'} aria-label={label} onClick={copy}>
            {copied ? <IconCheck size={16} /> : <Icon size={16} stroke={1.7} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}
