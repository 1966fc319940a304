import { Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './forms/forms.module.css'

interface PanelProps {
  title: string
  description?: ReactNode
  action?: ReactNode
  children?: ReactNode
}

/** A card with a heading. */
export function Panel({ title, description, action, children }: PanelProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.panel}>
      <div className={classes.sectionHead}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {action}
      </div>
      {description && (
        <Text c="dimmed" fz="sm">
          {description}
        </Text>
      )}
      {children}
    </section>
  )
}
