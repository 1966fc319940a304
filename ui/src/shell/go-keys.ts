/** Two keys that lead to a page, from wherever nothing is typed: G, then the page's own. */
import { useEffect } from 'react'
import { useNavigate } from 'react-router'

export const goKeys: readonly [key: string, to: string, name: string][] = [
  ['h', '/', 'home'],
  ['p', '/playground', 'the playground'],
  ['s', '/sessions', 'the sessions'],
  ['w', '/waiting', 'the approvals'],
  ['c', '/chart', 'the live view'],
  ['a', '/agents', 'the agents'],
]

/** Longer after the first key, the second one is its own. */
const TOGETHER_MS = 1_000

export function useGoKeys(): void {
  const navigate = useNavigate()
  useEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY
    const listen = ({ key, ctrlKey, metaKey, altKey, target, timeStamp }: KeyboardEvent) => {
      const types =
        target instanceof Element && target.closest('input, textarea, select, [contenteditable], [role=dialog]')
      if (types || ctrlKey || metaKey || altKey) return
      const to = timeStamp - begunAt < TOGETHER_MS && goKeys.find(([second]) => second === key)?.[1]
      begunAt = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY
      if (to) void navigate(to)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [navigate])
}
