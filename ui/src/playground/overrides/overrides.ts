/** How the playground's requests differ from the agent: part of the address, so that it can be shared. */
import { reasoningEfforts } from '../../agents/agent-values.ts'
import { type ToolKey, toolKeys, toolKinds } from '../../agents/tool-kinds.ts'
import { useSearchParams, withParams } from '../../blocks/search-params.ts'
import type { ChatRequest } from '../connection/connection-machine.ts'

export const numberKeys = ['temperature', 'topP', 'topK', 'maxToolCalls', 'maxOutputTokens'] as const
export type NumberKey = (typeof numberKeys)[number]
type SettingKey = NumberKey | 'provider' | 'model' | 'prompt' | 'system' | 'reasoningEffort'
export type OverrideKey = SettingKey | ToolKey
const keys: readonly OverrideKey[] = [
  ...(['provider', 'model', 'prompt', 'system', 'reasoningEffort'] as const),
  ...numberKeys,
  ...toolKeys,
]

const settingNames: Record<SettingKey, string> = {
  provider: 'Provider',
  model: 'Model',
  prompt: 'Prompt',
  system: 'System prompt',
  temperature: 'Temperature',
  topP: 'Top P',
  topK: 'Top K',
  maxToolCalls: 'Tool calls',
  maxOutputTokens: 'Output tokens',
  reasoningEffort: 'Reasoning effort',
}

export const isToolKey = (key: string): key is ToolKey => toolKeys.some((one) => one === key)

export const overrideName = (key: OverrideKey): string => (isToolKey(key) ? toolKinds[key].title : settingNames[key])

/** The tag of the prompt that the edited text began with: the text is saved over that one, and over no newer one. */
const tagKey = 'systemTag'
const allKeys = [...keys, tagKey] as const

/** The form in the address: lists are separated by commas, an empty one means none. */
export type Overrides = Partial<Record<(typeof allKeys)[number], string>>

/** Null restores the agent's own setting. */
export type OverrideChanges = Partial<Record<(typeof allKeys)[number], string | null>>

/** Returns the settings that differ from the agent's. */
export const changedIn = (overrides: Overrides): OverrideKey[] => keys.filter((key) => overrides[key] !== undefined)

export interface OverrideState {
  overrides: Overrides
  /** Resolves once the router has the address. */
  set: (changes: OverrideChanges) => Promise<void>
  clear: () => void
}

export function overridesIn(search: URLSearchParams): Overrides {
  const overrides: Overrides = {}
  for (const key of allKeys) {
    const value = search.get(key)
    if (value !== null) overrides[key] = value
  }
  return overrides
}

/** Drops an edited text when another prompt is chosen: the text belongs to the prompt that it began with. */
export function withoutOldText(changes: OverrideChanges): OverrideChanges {
  const wanted = changes.prompt === undefined ? changes : { system: null, ...changes }
  return wanted.system === null ? { ...wanted, [tagKey]: null } : wanted
}

export const noOverrides: OverrideChanges = Object.fromEntries(allKeys.map((key) => [key, null]))

export function useOverrides(): OverrideState {
  const [search, setSearch] = useSearchParams()
  const overrides = overridesIn(search)
  const set = (changes: OverrideChanges) =>
    setSearch((now) => withParams(now, withoutOldText(changes)), { replace: true })
  return { overrides, set, clear: () => set(noOverrides) }
}

export const listOf = (text: string): string[] => text.split(',').filter((part) => part !== '')

/** Returns the overrides as part of a request. The server checks them. */
export function requestPart(overrides: Overrides): Omit<ChatRequest, 'message' | 'sessionId'> {
  const { provider, model, prompt, system, reasoningEffort: effort } = overrides
  const reasoningEffort = reasoningEfforts.find((one) => one === effort)
  const numbers = numberKeys.flatMap((key) => {
    const value = overrides[key]
    return value === undefined ? [] : [[key, Number(value)] as const]
  })
  const config = {
    ...(provider !== undefined && { providerId: provider }),
    ...(model !== undefined && { model }),
    ...(prompt !== undefined && { promptId: prompt }),
    ...(system !== undefined && { systemPrompt: system }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...Object.fromEntries(numbers),
  }
  const request: ReturnType<typeof requestPart> = Object.keys(config).length > 0 ? { configOverrides: config } : {}
  for (const key of toolKeys) {
    const ids = overrides[key]
    if (ids !== undefined) Object.assign(request, toolKinds[key].choice(listOf(ids)))
  }
  return request
}
