/** Ctrl+K: to any page or record by a part of its name. */
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { IconFileText, IconPlugConnected, IconRobot, IconSearch, IconServer2, IconWorldCode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { agentList } from '../agents/queries.ts'
import { httpToolList } from '../http-tools/queries.ts'
import { mcpServerList } from '../mcp-servers/queries.ts'
import { promptList } from '../prompts/queries.ts'
import { providerList } from '../providers/queries.ts'
import classes from './command-palette.module.css'
import { sections } from './navigation.ts'

const [store, palette] = createSpotlight()

/** Spotlight marks the first when something is typed; what is found later would be unmarked, and Enter do nothing. */
function markFirst(): void {
  const list = document.getElementById(store.getState().listId)
  if (list?.querySelector('[data-selected]')) return
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

const found = { limit: 5, offset: 0 }

/** Opens when it is put on the page. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [q] = useDebouncedValue(query.trim(), 150)
  const records = [
    { group: 'Agents', to: '/agents', icon: IconRobot, list: useQuery(agentList({ ...found, q })) },
    { group: 'Prompts', to: '/prompts', icon: IconFileText, list: useQuery(promptList({ ...found, q })) },
    { group: 'Providers', to: '/providers', icon: IconPlugConnected, list: useQuery(providerList({ ...found, q })) },
    { group: 'HTTP tools', to: '/tools/http', icon: IconWorldCode, list: useQuery(httpToolList({ ...found, q })) },
    { group: 'MCP servers', to: '/tools/mcp', icon: IconServer2, list: useQuery(mcpServerList({ ...found, q })) },
  ]
  useEffect(() => palette.open(), [])
  useEffect(
    markFirst,
    records.map(({ list }) => list.data),
  )
  const action = (to: string, label: string, Icon: typeof IconRobot): SpotlightActionData => ({
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
      nothingFound="Nothing has this name."
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.6} />,
        placeholder: 'Pages, agents, prompts, tools…',
        'aria-label': 'Go to',
      }}
      actions={[
        { group: 'Pages', actions: pages },
        ...records.map(({ group, to, icon, list }) => ({
          group,
          actions: (list.data?.items ?? []).map(({ id, name }) => action(`${to}/${id}`, name, icon)),
        })),
      ]}
    />
  )
}
