import { Anchor, Box, Group, Text, Title } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import classes from '../blocks.module.css'

export interface PageProps {
  /** The heading, and the window's title. */
  title: string
  /** A `<title>`, where the window's is another one. */
  windowTitle?: ReactNode
  description?: ReactNode
  /** Buttons at the right of the heading. */
  actions?: ReactNode
  /** The list that the page belongs to. */
  back?: { to: string; label: string }
  /** `wide`: tables; `reading`: forms; `full`: no limit. */
  width?: 'wide' | 'reading' | 'full'
  children: ReactNode
}

/** The frame of every page. */
export function Page({ title, windowTitle, description, actions, back, width = 'wide', children }: PageProps) {
  return (
    <Box className={classes.page} data-width={width}>
      {windowTitle ?? <title>{`${title} · Greenroom`}</title>}
      {back && (
        <Anchor component={Link} to={back.to} viewTransition className={classes.back} fz="sm" c="dimmed">
          <IconChevronLeft size={15} stroke={1.8} aria-hidden />
          {back.label}
        </Anchor>
      )}
      <Group justify="space-between" align="flex-start" gap="md" mb="md" className={classes.head}>
        <Box className={classes.headText}>
          <Title order={1} className={back ? (classes.recordName ?? '') : ''}>
            {title}
          </Title>
          {description && (
            <Text c="dimmed" fz="sm" mt={2} maw={680}>
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Box>
  )
}
