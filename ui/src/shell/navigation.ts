/** The pages of the navigation, in its order. */
import {
  type Icon,
  IconChartBar,
  IconHandStop,
  IconHistory,
  IconMessageCircle,
  IconMessages,
  IconSitemap,
  IconTool,
  IconUserCheck,
} from '@tabler/icons-react'
import { resources } from '../resources.ts'

interface Link {
  to: string
  label: string
  icon: Icon
}

const linksIn = (name: 'Build' | 'Tools' | 'Access'): Link[] =>
  resources
    .filter(({ section }) => section === name)
    .map(({ resource: { path, title, icon } }) => ({ to: path, label: title, icon }))

export const sections: readonly { label: string | null; pages: Link[] }[] = [
  {
    label: null,
    pages: [
      { to: '/playground', label: 'Playground', icon: IconMessageCircle },
      { to: '/sessions', label: 'Sessions', icon: IconMessages },
      { to: '/waiting', label: 'Approvals', icon: IconHandStop },
      { to: '/chart', label: 'Live view', icon: IconSitemap },
      { to: '/usage', label: 'Usage', icon: IconChartBar },
    ],
  },
  { label: 'Build', pages: linksIn('Build') },
  { label: 'Tools', pages: [...linksIn('Tools'), { to: '/tools/built-in', label: 'Built-in tools', icon: IconTool }] },
  {
    label: 'Access',
    pages: [
      ...linksIn('Access'),
      { to: '/connections', label: 'Connections', icon: IconUserCheck },
      { to: '/audit', label: 'Audit', icon: IconHistory },
    ],
  },
]
