/**
 * Keys of a list, of which a single row is a stop of the tab key: J, K and the arrows move along the rows, Enter opens,
 * X selects, Esc leaves.
 */
import { usePageKeys } from '../blocks/pages/page-keys.ts'

interface RowKeys {
  ids: readonly string[]
  /** Null when no row is looked at. */
  active: string | null
  onActive: (id: string | null) => void
  onOpen: (id: string) => void
  onToggle: (id: string) => void
}

export function useRowKeys({ ids, active, onActive, onOpen, onToggle }: RowKeys): void {
  const at = active === null ? -1 : ids.indexOf(active)
  const move = (by: number) => {
    const next = ids[Math.min(Math.max(at + by, 0), ids.length - 1)]
    if (next !== undefined) onActive(next)
  }
  const withRow = (act: (id: string) => void) => () => active !== null && at >= 0 && act(active)
  usePageKeys([
    ['J', () => move(1)],
    ['ArrowDown', () => move(1)],
    ['K', () => move(-1)],
    ['ArrowUp', () => move(-1)],
    ['X', withRow(onToggle)],
    ['Escape', withRow(() => onActive(null))],
    // A link or button that has the focus is what Enter is for.
    [
      'Enter',
      (event) => {
        if (!(event.target instanceof Element && event.target.closest('a, button'))) withRow(onOpen)()
      },
      { preventDefault: false },
    ],
  ])
}
