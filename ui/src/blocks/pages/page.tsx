import { Anchor, Box, Group, Text, Title } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { createContext, type ReactNode, type RefObject, use, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { Link } from 'react-router'
import classes from '../blocks.module.css'
import head from './page.module.css'

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

/** The place in a page's first line for its tabs. It is there once the page's children are. */
const TabsPlace = createContext<RefObject<HTMLElement | null> | null>(null)

/** Puts the page's tabs beside its title: one line for both. */
export function InHead({ children }: { children: ReactNode }) {
  const ref = use(TabsPlace)
  const [place, setPlace] = useState<HTMLElement | null>(null)
  // Not a state of the page: each page would be rendered twice, and the second time without a turn of the browser.
  useLayoutEffect(() => setPlace(ref?.current ?? null), [ref])
  return place && createPortal(children, place)
}

/** The frame of every page. */
export function Page({ title, windowTitle, description, actions, back, width = 'wide', children }: PageProps) {
  const place = useRef<HTMLDivElement>(null)
  return (
    <Box className={classes.page} data-width={width}>
      {windowTitle ?? <title>{`${title} · Greenroom`}</title>}
      <header className={head.pageHead}>
        {back && (
          <Anchor component={Link} to={back.to} viewTransition className={head.back} fz="sm" c="dimmed">
            <IconChevronLeft size={15} stroke={1.8} aria-hidden />
            {back.label}
          </Anchor>
        )}
        <Box className={head.headText}>
          <Title order={1} className={back ? (classes.recordName ?? '') : ''}>
            {title}
          </Title>
          {description && (
            <Text component="div" c="dimmed" fz="sm" mt={2} maw={680}>
              {description}
            </Text>
          )}
        </Box>
        <div ref={place} className={head.headTabs} />
        {actions && (
          <Group gap="xs" className={head.headActions ?? ''}>
            {actions}
          </Group>
        )}
      </header>
      <TabsPlace value={place}>{children}</TabsPlace>
    </Box>
  )
}
