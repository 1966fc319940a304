import { ActionIcon, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { wordsOf } from '../api.ts'

interface CopyProps {
  /** A function is asked when it is copied: where the text grows, this need not be rendered again for each word. */
  text: string | (() => string)
  /** A description of the copied text. */
  label?: string
  icon?: typeof IconCopy
}

const SAID_MS = 1_000

/** Resolves once it is copied. Pages have `navigator.clipboard` over HTTPS and on the same machine alone. */
export async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return await navigator.clipboard.writeText(text)
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.style.position = 'fixed'
  // Beside what has the focus: a dialog keeps that within itself.
  ;(before?.parentElement ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  if (!isCopied) throw new Error('This browser lets pages copy over HTTPS alone.')
}

/** Copies `text`. */
export function Copy({ text, label = 'Copy', icon: Icon = IconCopy }: CopyProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () =>
    copyText(typeof text === 'string' ? text : text()).then(
      () => setCopied(true),
      (error: unknown) => notifications.show({ color: 'red', message: wordsOf(error) }),
    )
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon variant="subtle" color={copied ? 'accent' : 'gray'} aria-label={label} onClick={() => void copy()}>
        {copied ? <IconCheck size={16} /> : <Icon size={16} stroke={1.7} />}
      </ActionIcon>
    </Tooltip>
  )
}
