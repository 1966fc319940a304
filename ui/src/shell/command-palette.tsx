/** Ctrl+K: go to any page or record by a part of its name. */
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { type Icon, IconSearch } from '@tabler/icons-react'
import { useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { resources } from '../resources.ts'
import classes from './command-palette.module.css'
import { sections } from './navigation.ts'

const [store, palette] = createSpotlight()

/**
 * Spotlight selects the first result on typing. The lists answer later and in any order: after each answer the first
 * one shown is selected, so that Enter does not depend on which list was the fastest.
 */
function selectFirst(): void {
  const list = document.getElementById(store.getState().listId)
  list?.querySelector('[data-selected]')?.removeAttribute('data-selected')
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

const found = { limit: 5, offset: 0 }

/** Opens when it is mounted. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [q] = useDebouncedValue(query.trim(), 150)
  const records = useQueries({ queries: resources.map(({ resource }) => resource.list({ ...found, q })) })
  useEffect(() => palette.open(), [])
  useEffect(
    selectFirst,
    records.map(({ data }) => data),
  )
  const action = (to: string, label: string, Icon: Icon): SpotlightActionData => ({
    id: to,
    label,
    leftSection: <Icon size={18} stroke={1.6} aria-hidden />,
    onClick: () => navigate(to),
  })
  const pages = sections.flatMap((section) => section.pages.map(({ to, label, icon }) => action(to, label, icon)))
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
        placeholder: 'Pages, agents, prompts, tools…',
        'aria-label': 'Go to',
      }}
      actions={[
        { group: 'Pages', actions: pages },
        ...resources.map(({ resource: { title, path, icon } }, index) => ({
          group: title,
          actions: (records[index]?.data?.items ?? []).map(({ id, name }) => action(`${path}/${id}`, name, icon)),
        })),
      ]}
    />
  )
}
