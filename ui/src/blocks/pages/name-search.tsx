import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'

/** Above this many they can be searched. */
const few = 8

interface NameSearchProps<Item> {
  items: readonly Item[]
  name: (item: Item) => string
  /** "models" */
  nouns: string
  /** Space around the field. */
  m?: 'xs'
  children: (found: Item[]) => ReactNode
}

/** Shows the items whose names hold what is typed; where they are few there is no field, and all are shown. */
export function NameSearch<Item>({ items, name, nouns, children, ...space }: NameSearchProps<Item>) {
  const [part, setPart] = useState('')
  return (
    <>
      {items.length > few && (
        <TextInput
          type="search"
          aria-label={`Search ${nouns}`}
          placeholder={`Search ${items.length} ${nouns}`}
          value={part}
          onChange={({ currentTarget }) => setPart(currentTarget.value)}
          {...space}
        />
      )}
      {children(items.filter((item) => name(item).toLowerCase().includes(part.toLowerCase())))}
    </>
  )
}
