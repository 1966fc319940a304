/** The frame around every page: navigation, who is logged in, colours, and the notice when the server does not answer. */
import { ActionIcon, Burger, Divider, NavLink, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { IconBook2, IconExternalLink, IconLayoutSidebarLeftCollapse, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import {
  Link,
  NavigationType,
  Outlet,
  NavLink as RouteLink,
  ScrollRestoration,
  useLocation,
  useNavigationType,
} from 'react-router'
import { currentUser } from '../login/queries.ts'
import { mayAct, roleFor, useRefusal } from '../login/roles.ts'
import { Account } from './account.tsx'
import { Brand } from './brand.tsx'
import { ColorSchemeSwitch } from './color-scheme-switch.tsx'
import { RefusedPage } from './failures/refused-page.tsx'
import { UnreachableNotice } from './failures/unreachable.tsx'
import { useGoKeys } from './go-keys.ts'
import { sections } from './navigation.ts'
import { reliable } from './reliable-import.ts'
import classes from './shell.module.css'
import { useSideFold } from './use-side-fold.ts'
import { WaitingCount } from './waiting-count.tsx'

const CommandPalette = lazy(reliable(() => import('./palette/command-palette.tsx')))
const Shortcuts = lazy(reliable(() => import('./palette/shortcuts.tsx')))

/** The width at which the sidebar is visible, as in frame.css. Below it, it is visible only while the menu is open. */
const ROOM_FOR_SIDE = 'not all and (max-width: 48em)'

export function Shell() {
  const hasRoom = useMediaQuery(ROOM_FOR_SIDE, undefined, { getInitialValueInEffect: false }) === true
  const [palette, setPalette] = useState(false)
  const [menu, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  const main = useFocusOnNewPage(pathname)
  // A new page closes the menu of small screens.
  useEffect(close, [pathname])
  return (
    <div className="frame" data-menu={menu || undefined}>
      <a href="#main" className={classes.skip}>
        Skip to content
      </a>
      {/* No <header>: dialogs have one, and a page may have one banner. */}
      <section className="frame-bar" aria-label="Menu bar">
        <Link to="/" className="brand">
          <Brand />
        </Link>
        <Burger
          opened={menu}
          onClick={toggle}
          size="sm"
          aria-expanded={menu}
          aria-label={menu ? 'Close the menu' : 'Open the menu'}
        />
      </section>
      <nav className="frame-side" aria-label="Main">
        {(hasRoom || menu) && <Side onSearch={() => setPalette(true)} />}
      </nav>
      <main id="main" ref={main} tabIndex={-1} className="frame-main">
        <Opened />
      </main>
      <OnTop palette={palette} setPalette={setPalette} />
      <UnreachableNotice />
      <ScrollRestoration />
    </div>
  )
}

/** The page, or why the role does not open it. */
function Opened() {
  const reason = useRefusal('open')
  return reason === undefined ? <Outlet /> : <RefusedPage reason={reason} />
}

interface OnTopProps {
  /** Whether the command palette is open. */
  palette: boolean
  setPalette: (isOpen: boolean) => void
}

/** The overlays that keys open over any page. */
function OnTop({ palette, setPalette }: OnTopProps) {
  const [sheet, setSheet] = useState(false)
  const typed = useTypedAhead(palette)
  useHotkeys([['mod+K', () => setPalette(true)]], [])
  useQuestionMark(() => setSheet(true))
  useGoKeys()
  return (
    <>
      {palette && (
        <Suspense>
          <CommandPalette onClose={() => setPalette(false)} onShortcuts={() => setSheet(true)} typed={typed} />
        </Suspense>
      )}
      {sheet && (
        <Suspense>
          <Shortcuts onClose={() => setSheet(false)} />
        </Suspense>
      )}
    </>
  )
}

function Side({ onSearch }: { onSearch: () => void }) {
  const { data: user } = useQuery(currentUser)
  const { isFolded, toggle } = useSideFold()
  const opened = sections
    .map(({ label, pages }) => ({
      label,
      pages: pages.filter(({ to }) => mayAct(user?.role, roleFor('open', to))),
    }))
    .filter(({ pages }) => pages.length > 0)
  return (
    <>
      <Link to="/" className="brand">
        <Brand />
      </Link>
      <UnstyledButton className={classes.search} title={isFolded ? 'Go to… (Ctrl K)' : undefined} onClick={onSearch}>
        <IconSearch size={15} stroke={1.8} aria-hidden />
        <span>Go to…</span>
        <kbd>Ctrl K</kbd>
      </UnstyledButton>
      <div className={classes.links}>
        {opened.map(({ label, pages }) => (
          <div key={label} className={classes.section}>
            {label && <Text className={classes.sectionName}>{label}</Text>}
            {pages.map(({ to, label, icon: Icon }) => (
              <NavLink
                key={to}
                component={RouteLink}
                to={to}
                label={label}
                title={isFolded ? label : undefined}
                className={classes.link ?? ''}
                leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
                rightSection={to === '/waiting' && <WaitingCount />}
              />
            ))}
          </div>
        ))}
        <div className={classes.section}>
          <NavLink
            href="/docs"
            target="_blank"
            label="API reference"
            title={isFolded ? 'API reference' : undefined}
            className={classes.link ?? ''}
            leftSection={<IconBook2 size={18} stroke={1.6} aria-hidden />}
            rightSection={<IconExternalLink size={14} stroke={1.6} aria-hidden />}
          />
        </div>
      </div>
      <Divider color="var(--line)" />
      <div className={classes.foot}>
        <Account />
        <ColorSchemeSwitch />
        <ActionIcon
          data-fold
          className={classes.fold ?? ''}
          variant="subtle"
          color="gray"
          aria-label={isFolded ? 'Unfold the navigation' : 'Fold the navigation'}
          title={isFolded ? 'Unfold the navigation ([)' : 'Fold the navigation ([)'}
          onClick={toggle}
        >
          <IconLayoutSidebarLeftCollapse size={18} stroke={1.7} />
        </ActionIcon>
      </div>
    </>
  )
}

/** Returns what is typed or pasted from the moment that the palette is asked for until its field is there to take it. */
function useTypedAhead(isAsked: boolean): string {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    if (!isAsked) return
    setTyped('')
    const stop = () => {
      removeEventListener('keydown', listen, true)
      removeEventListener('paste', paste, true)
    }
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return stop()
      const text = event.clipboardData?.getData('text/plain') ?? ''
      setTyped((before) => before + text.trim())
    }
    const listen = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      if (target instanceof Element && target.closest('[role="dialog"]')) return stop()
      if (key.length !== 1 || ctrlKey || metaKey || altKey) return
      event.preventDefault()
      event.stopPropagation()
      setTyped((before) => before + key)
    }
    addEventListener('keydown', listen, true)
    addEventListener('paste', paste, true)
    return stop
  }, [isAsked])
  return typed
}

/** Tests the character, not the key, since `?` lies elsewhere on each keyboard. False while something is typed. */
function useQuestionMark(onAsked: () => void) {
  const asked = useRef(onAsked)
  asked.current = onAsked
  useEffect(() => {
    const listen = ({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent) => {
      const types = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
      if (key === '?' && !ctrlKey && !metaKey && !altKey && !types) asked.current()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

/**
 * Moves the focus to a new page's top, where screen readers and keyboards start, instead of the link that led there. A
 * page that only replaces its own address, as the playground does when a new session gets its id, leaves the focus
 * where it is.
 */
function useFocusOnNewPage(pathname: string) {
  const type = useNavigationType()
  const main = useRef<HTMLElement>(null)
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    if (type === NavigationType.Replace && main.current?.contains(document.activeElement)) return
    main.current?.focus({ preventScroll: true })
  }, [pathname, type])
  return main
}
