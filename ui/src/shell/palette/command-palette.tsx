/** Ctrl+K: go to any page, record or session by a part of its name, or do something. */
import '@mantine/spotlight/styles.css'
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import {
  type Icon,
  IconKeyboard,
  IconLogout,
  IconMessage,
  IconMoon,
  IconPlus,
  IconSearch,
  IconSun,
  IconTimeline,
} from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { useFocusBack } from '../../blocks/late/use-focus-back.ts'
import { foundById } from '../../chart/queries.ts'
import { currentUser, logout } from '../../login/queries.ts'
import { mayAct, roleFor } from '../../login/roles.ts'
import { resources } from '../../resources.ts'
import { allSessions } from '../../sessions/queries.ts'
import { sessionName, timedShortId } from '../../sessions/words.ts'
import { sections } from '../navigation.ts'
import classes from './command-palette.module.css'

const [store, palette] = createSpotlight()

/**
 * Selects the first result. Spotlight does so on typing. The lists answer later and in any order: after each answer the
 * first one shown is selected, so that Enter does not depend on which list was the fastest.
 */
function selectFirst(): void {
  const list = document.getElementById(store.getState().listId)
  list?.querySelector('[data-selected]')?.removeAttribute('data-selected')
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

const some = { limit: 5, offset: 0 }

/** The text that may be a whole id, of whatever form. */
const isId = /^\S{16,128}$/

const foundName = ({ messageId, sessionId }: { messageId: string | null; sessionId: string }): string =>
  messageId === null
    ? `The newest reply of session ${timedShortId(sessionId)}`
    : `Reply ${timedShortId(messageId)}: what happened in it`

interface CommandPaletteProps {
  onClose: () => void
  onShortcuts: () => void
  /** The text that was typed before it was there. */
  typed: string
}

/** Opens when it is mounted. */
export default function CommandPalette({ onClose, onShortcuts, typed }: CommandPaletteProps) {
  useFocusBack()
  const navigate = useNavigate()
  const [query, setQuery] = useState(typed)
  useEffect(() => setQuery(typed), [typed])
  const [q] = useDebouncedValue(query.trim(), 150)
  const { data: user } = useQuery(currentUser)
  const opens = (to: string) => mayAct(user?.role, roleFor('open', to))
  const records = useQueries({
    queries: resources.map(({ resource }) => ({ ...resource.list({ ...some, q }), enabled: opens(resource.path) })),
  })
  const mayRead = opens('/sessions')
  const { data: sessions } = useQuery({ ...allSessions({ limit: some.limit, ...(q && { q }) }), enabled: mayRead })
  const found = useQuery({ ...foundById(q), enabled: mayRead && isId.test(q) }).data
  useEffect(() => palette.open(), [])
  useEffect(selectFirst, [...records.map(({ data }) => data), sessions, found])
  const action = (to: string, label: string, Icon: Icon): SpotlightActionData => ({
    id: to,
    label,
    leftSection: <Icon size={18} stroke={1.6} aria-hidden />,
    onClick: () => navigate(to),
  })
  const actions = useActions(onShortcuts)
  const pages = sections
    .flatMap((section) => section.pages)
    .filter(({ to }) => opens(to))
    .map(({ to, label, icon }) => action(to, label, icon))
  return (
    <Spotlight
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      shortcut={null}
      centered={false}
      yOffset="14vh"
      radius="lg"
      attributes={{ content: { 'aria-label': 'Go to' } }}
      classNames={{ action: classes.action ?? '', actionsGroup: classes.group ?? '' }}
      scrollable
      maxHeight={420}
      nothingFound="Nothing found."
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.6} />,
        placeholder: 'Pages, agents, sessions, actions…',
        'aria-label': 'Go to',
      }}
      actions={[
        {
          group: 'Found by its id',
          actions: found
            ? [
                {
                  ...action(`/replies/${found.messageId ?? found.sessionId}`, foundName(found), IconTimeline),
                  // Its name is not what is typed.
                  keywords: [q],
                },
              ]
            : [],
        },
        { group: 'Pages', actions: pages },
        { group: 'Actions', actions },
        ...resources.map(({ resource: { title, path, icon } }, index) => ({
          group: title,
          actions: (records[index]?.data?.items ?? []).map(({ id, name }) => action(`${path}/${id}`, name, icon)),
        })),
        {
          group: 'Sessions',
          actions: (sessions?.sessions ?? []).map((session) => ({
            ...action(`/playground/${session.agentId}/${session.id}`, sessionName(session), IconMessage),
            description: session.agentName,
            keywords: [q],
          })),
        },
      ]}
    />
  )
}

function useActions(onShortcuts: () => void): SpotlightActionData[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const { data: user } = useQuery(currentUser)
  const act = (id: string, label: string, Icon: Icon, onClick: () => void): SpotlightActionData => ({
    id,
    label,
    leftSection: <Icon size={18} stroke={1.6} aria-hidden />,
    onClick,
  })
  return [
    ...resources
      .filter(({ resource: { path } }) => mayAct(user?.role, roleFor('open', `${path}/new`)))
      .map(({ resource: { noun, path } }) =>
        act(`new ${path}`, `New ${noun}`, IconPlus, () => void navigate(`${path}/new`)),
      ),
    act('scheme', isDark ? 'Use light colours' : 'Use dark colours', isDark ? IconSun : IconMoon, () =>
      setColorScheme(isDark ? 'light' : 'dark'),
    ),
    act('shortcuts', 'Keyboard shortcuts', IconKeyboard, onShortcuts),
    ...(user?.username ? [act('logout', 'Log out', IconLogout, () => void logout())] : []),
  ]
}
