/** What the next request changes of the agent, in sight while it does. */
import { CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { providerList } from '../providers/queries.ts'
import { listOf, type OverrideKey, overrideNames, toolKeys, useOverrides } from './overrides.ts'
import classes from './playground.module.css'
import { toolOptions } from './tool-options.ts'

const isTool = (key: string): key is (typeof toolKeys)[number] => toolKeys.some((one) => one === key)

export function OverrideChips() {
  const { overrides, set } = useOverrides()
  const keys = Object.keys(overrides) as OverrideKey[]
  const tools = useQuery({ ...toolOptions, enabled: keys.some(isTool) }).data
  const providers = useQuery({ ...providerList({ limit: 100, offset: 0 }), enabled: keys.includes('provider') }).data
  if (keys.length === 0) return null
  const words = (key: OverrideKey, value: string): string => {
    if (key === 'provider') return providers?.items.find(({ id }) => id === value)?.name ?? value
    if (!isTool(key)) return value
    const names = listOf(value).map((id) => tools?.[key].find((tool) => tool.value === id)?.label ?? id)
    return names.join(', ') || 'none'
  }
  return (
    <ul className={classes.chips} aria-label="Overrides">
      {keys.map((key) => (
        <li key={key} className={classes.chip}>
          <span>
            {overrideNames[key]}: <b>{words(key, overrides[key] ?? '')}</b>
          </span>
          <CloseButton
            size={20}
            iconSize={13}
            aria-label={`Remove the override of ${overrideNames[key]}`}
            onClick={() => set({ [key]: null })}
          />
        </li>
      ))}
    </ul>
  )
}
