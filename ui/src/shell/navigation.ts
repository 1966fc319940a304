/** The pages that the side leads to, in its order. */
import {
  IconChartBar,
  IconFileText,
  IconMessageCircle,
  IconPlugConnected,
  IconRobot,
  IconServer2,
  IconSitemap,
  IconTool,
  IconWorldCode,
} from '@tabler/icons-react'

export const sections = [
  {
    label: null,
    pages: [
      { to: '/playground', label: 'Playground', icon: IconMessageCircle },
      { to: '/chart', label: 'State chart', icon: IconSitemap },
      { to: '/usage', label: 'Usage', icon: IconChartBar },
    ],
  },
  {
    label: 'Build',
    pages: [
      { to: '/agents', label: 'Agents', icon: IconRobot },
      { to: '/prompts', label: 'Prompts', icon: IconFileText },
      { to: '/providers', label: 'Providers', icon: IconPlugConnected },
    ],
  },
  {
    label: 'Tools',
    pages: [
      { to: '/tools/http', label: 'HTTP tools', icon: IconWorldCode },
      { to: '/tools/mcp', label: 'MCP servers', icon: IconServer2 },
      { to: '/tools/built-in', label: 'Built-in tools', icon: IconTool },
    ],
  },
] as const
