/** The sections of the form, one of which is shown: all of them below each other would be five screens. */
import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef } from 'react'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import type { AgentValues } from '../agent-values.ts'

const titles = {
  general: 'General',
  tools: 'Tools',
  generation: 'Generation',
  callers: 'Requests',
  limits: 'Limits',
  pages: 'Web pages',
} as const
export type SectionName = keyof typeof titles

const names = ['general', 'tools', 'generation', 'callers', 'limits', 'pages'] as const satisfies SectionName[]

const sectionOf = {
  name: 'general',
  providerId: 'general',
  model: 'general',
  fallbacks: 'general',
  promptId: 'general',
  systemPrompt: 'general',
  httpToolIds: 'tools',
  builtInToolIds: 'tools',
  mcpServers: 'tools',
  agentTools: 'tools',
  approvals: 'tools',
  approvalsExpireAfterS: 'tools',
  generationConfig: 'generation',
  historyMaxTokens: 'generation',
  compaction: 'generation',
  responseFormat: 'generation',
  callerInstructions: 'callers',
  onLoss: 'callers',
  onMissingTools: 'tools',
  userLimits: 'limits',
  allowedOrigins: 'pages',
} as const satisfies Record<keyof AgentValues, SectionName>

const isField = (name: string): name is keyof AgentValues => Object.hasOwn(sectionOf, name)

function sectionWith(path: string): SectionName {
  const [field = ''] = path.split('.')
  return isField(field) ? sectionOf[field] : 'general'
}

const isSection = (name: string): name is SectionName => Object.hasOwn(titles, name)

/** Returns the section in `?section=`. After a refusal it is that of the first invalid field, which has the focus. */
export function useShownSection(form: UseFormReturnType<AgentValues>) {
  const [search, setSearch] = useSearchParams()
  const asked = search.get('section') ?? ''
  const shown = isSection(asked) ? asked : 'general'
  const show = (section: SectionName) =>
    setSearch((before) => withParams(before, { section }), { replace: true, preventScrollReset: true })
  const awaited = useRef<string | null>(null)
  const showField = (path: string) => {
    awaited.current = path
    void show(sectionWith(path))
  }
  // What is hidden takes no focus.
  useEffect(() => {
    const path = awaited.current
    if (path === null || sectionWith(path) !== shown) return
    awaited.current = null
    form.getInputNode(path)?.focus()
  }, [shown, form.getInputNode])
  return { shown, show, showField }
}

interface SectionIndexProps {
  shown: SectionName
  onShow: (section: SectionName) => void
}

export const SectionIndex = ({ shown, onShow }: SectionIndexProps) => (
  <nav aria-label="Sections">
    <ul>
      {names.map((name) => (
        <li key={name}>
          <button type="button" aria-current={name === shown || undefined} onClick={() => onShow(name)}>
            {titles[name]}
          </button>
        </li>
      ))}
    </ul>
  </nav>
)
