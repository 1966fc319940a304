import { Text, Title } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactElement, ReactNode } from 'react'
import { ButtonTo } from '../../login/button-to.tsx'
import classes from '../blocks.module.css'

export interface EmptyStateProps {
  icon: Icon
  title: string
  /** The purpose of the page, in a sentence. */
  children: ReactNode
  /** The page that is the one thing to do next. */
  leadTo?: { path: string; label: string } | undefined
  /** The one thing to do next, where that is no link. */
  action?: ReactElement | undefined
}

export function EmptyState({ icon: Picture, title, children, leadTo, action }: EmptyStateProps) {
  return (
    <div className={classes.empty}>
      <div className={classes.emptyIcon}>
        <Picture size={26} stroke={1.5} aria-hidden />
      </div>
      <Title order={2}>{title}</Title>
      <Text c="dimmed" maw={440} mb={leadTo || action ? 10 : 0}>
        {children}
      </Text>
      {leadTo && <ButtonTo to={leadTo.path}>{leadTo.label}</ButtonTo>}
      {action}
    </div>
  )
}
