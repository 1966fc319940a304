import { Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './forms.module.css'

interface FormSectionProps {
  title: string
  /** A description, in a sentence or two. */
  description?: ReactNode
  /** Shown at the right of the heading. */
  aside?: ReactNode
  children: ReactNode
}

/** Fields of a form that belong together. */
export function FormSection({ title, description, aside, children }: FormSectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.section}>
      <div className={classes.sectionHead}>
        <Title order={2} id={id}>
          {title}
        </Title>
        {aside}
      </div>
      {description && (
        <Text c="dimmed" fz="sm" mb="md">
          {description}
        </Text>
      )}
      <Stack gap="md" className={classes.fields}>
        {children}
      </Stack>
    </section>
  )
}
