/** How the next request differs from the agent, in sight for as long as it does. */
import { CloseButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { toolKinds } from '../../agents/tool-kinds.ts'
import type { Query } from '../../blocks/resource.ts'
import { promptResource } from '../../prompts/resource.ts'
import { providerResource } from '../../providers/resource.ts'
import classes from './override-chips.module.css'
import {
  changedIn,
  isToolKey,
  listOf,
  type OverrideKey,
  type OverrideState,
  type Overrides,
  overrideName,
} from './overrides.ts'

interface OverrideChipsProps {
  state: OverrideState
  /** The overrides that are visible elsewhere. */
  without?: readonly OverrideKey[]
}

export function OverrideChips({ state: { overrides, set }, without = [] }: OverrideChipsProps) {
  const keys = changedIn(overrides).filter((key) => !without.includes(key))
  if (keys.length === 0) return null
  return (
    <ul className={classes.chips} aria-label="Overrides">
      {keys.map((key) => (
        <li key={key} className={classes.chip}>
          <span>
            {overrideName(key)}:{' '}
            <b>
              <Value of={key} text={overrides[key] ?? ''} />
            </b>
          </span>
          <CloseButton
            size={20}
            iconSize={13}
            aria-label={`Remove the override of ${overrideName(key)}`}
            onClick={() => set({ [key]: null })}
          />
        </li>
      ))}
    </ul>
  )
}

/** The same, to be read. */
export function OverrideList({ overrides }: { overrides: Overrides }) {
  const keys = changedIn(overrides)
  if (keys.length === 0) return null
  return (
    <ul className={classes.chips} aria-label="Overrides">
      {keys.map((key) => (
        <li key={key} className={classes.read}>
          {overrideName(key)}:{' '}
          <b>
            <Value of={key} text={overrides[key] ?? ''} />
          </b>
        </li>
      ))}
    </ul>
  )
}

function Value({ of: key, text }: { of: OverrideKey; text: string }) {
  if (key === 'provider') return <Names all={providerResource.all} ids={[text]} />
  if (key === 'prompt') return <Names all={promptResource.all} ids={[text]} />
  if (key === 'system' && text.length > 40) return `${text.slice(0, 40)}…`
  if (isToolKey(key)) return <Names all={toolKinds[key].all} ids={listOf(text)} />
  return text
}

/** The ids, until the names are known. */
function Names({ all, ids }: { all: Query<{ id: string; name: string }[]>; ids: string[] }) {
  const { data } = useQuery(all)
  const names = ids.map((id) => data?.find((record) => record.id === id)?.name ?? id)
  return names.join(', ') || 'none'
}
