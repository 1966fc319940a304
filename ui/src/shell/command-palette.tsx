/** Ctrl+K: to any page, agent or prompt by a part of its name. */
import '@mantine/spotlight/styles.css'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { IconFileText, IconRobot, IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { agentList } from '../agents/queries.ts'
import { promptList } from '../prompts/queries.ts'
import classes from './command-palette.module.css'
import { sections } from './navigation.ts'

const [store, palette] = createSpotlight()
const found = { limit: 5, offset: 0 }

/** Opens when it is put on the page. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [q] = useDebouncedValue(query.trim(), 150)
  const agents = useQuery(agentList({ ...found, q }))
  const prompts = useQuery(promptList({ ...found, q }))
  useEffect(() => palette.open(), [])
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
      classNames={{ action: classes.action ?? '', actionsGroup: classes.group ?? '' }}
      scrollable
      maxHeight={420}
      nothingFound="Nothing has this name."
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.6} />,
        placeholder: 'Pages, agents, prompts…',
        'aria-label': 'Go to',
      }}
      actions={[
        { group: 'Pages', actions: pages },
        {
          group: 'Agents',
          actions: (agents.data?.items ?? []).map(({ id, name }) => action(`/agents/${id}`, name, IconRobot)),
        },
        {
          group: 'Prompts',
          actions: (prompts.data?.items ?? []).map(({ id, name }) => action(`/prompts/${id}`, name, IconFileText)),
        },
      ]}
    />
  )
}
