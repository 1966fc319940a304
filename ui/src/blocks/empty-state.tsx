import { Text, Title } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import classes from './blocks.module.css'

interface EmptyStateProps {
  icon: Icon
  title: string
  /** What it is for, in a sentence. */
  children: ReactNode
  /** The one thing to do next. */
  action?: ReactNode
}

export function EmptyState({ icon: Picture, title, children, action }: EmptyStateProps) {
  return (
    <div className={classes.empty}>
      <div className={classes.emptyIcon}>
        <Picture size={26} stroke={1.5} aria-hidden />
      </div>
      <Title order={2}>{title}</Title>
      <Text c="dimmed" maw={440} mb={action ? 10 : 0}>
        {children}
      </Text>
      {action}
    </div>
  )
}
