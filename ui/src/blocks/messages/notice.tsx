import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from '../forms/forms.module.css'

/** A note to the reader, quieter than an error. */
export function Notice({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <Alert
      variant="default"
      role="status"
      title={title}
      icon={<IconAlertTriangle aria-hidden />}
      classNames={{ icon: classes.noticeIcon ?? '' }}
    >
      {children}
    </Alert>
  )
}
