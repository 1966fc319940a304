/** The field that narrows the list, with what it understands. */
import { Autocomplete, Button } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { allAgents } from '../../agents/resource.ts'
import { providerResource } from '../../providers/resource.ts'
import type { useSessionFilters } from '../filters-in-url.ts'
import classes from './query.module.css'
import { completionsOf, formatQuery, type Names, parseQuery } from './query-text.ts'

type Filters = Pick<ReturnType<typeof useSessionFilters>, 'filters' | 'setFilters' | 'isFiltered' | 'clear'>

export function QueryField({ filters, setFilters, isFiltered, clear }: Filters) {
  const names: Names = { agents: useQuery(allAgents).data, providers: useQuery(providerResource.all).data }
  const shown = formatQuery(filters, names)
  const [text, setText] = useState(shown)
  const input = useRef<HTMLInputElement>(null)
  const { problem } = parseQuery(text, names)
  const settle = useDebouncedCallback((now: string) => {
    // The range beside the field shows `from` and `to`, so the field leaves them alone.
    setFilters(({ from, to, in: place }) => {
      const others = { ...(from && { from }), ...(to && { to }), ...(place && { in: place }) }
      return { ...parseQuery(now, names).filters, ...others }
    })
  }, 250)
  const change = (now: string) => {
    setText(now)
    settle(now)
  }
  // Links, tabs and the back button change the address too. What says the same is left as it is while it is typed, and so is
  // what is on its way to the address.
  useEffect(() => {
    if (settle.isPending()) return
    const isTyped = document.activeElement === input.current
    setText((now) => (isTyped && formatQuery(parseQuery(now, names).filters, names) === shown ? now : shown))
  }, [shown]) // names are part of what is shown
  const completions = completionsOf(text, names)
  const hintOf = new Map(completions.map((one) => [one.value, one]))
  return (
    <search className={classes.field} aria-label="Filter sessions">
      <Autocomplete
        ref={input}
        aria-label="Filter"
        placeholder={filters.in ? placeholders.messages : placeholders.titles}
        leftSection={<IconFilter size={16} stroke={1.7} aria-hidden />}
        value={text}
        onChange={change}
        // The theme's pickers select their text to be replaced. This text is added to.
        onFocus={() => undefined}
        onClick={() => undefined}
        // What is clicked beside the field narrows the list further: it must not be undone a moment later.
        onBlur={() => settle.flush()}
        data={completions.map(({ value }) => value)}
        filter={({ options }) => options}
        renderOption={({ option }) => (
          <span className={classes.completion}>
            <b>{hintOf.get(option.value)?.adds}</b> {hintOf.get(option.value)?.hint}
          </span>
        )}
        error={isWhole(text) ? problem : null}
        maxDropdownHeight={340}
      />
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={clear}>
          Clear
        </Button>
      )}
    </search>
  )
}

const placeholders = {
  titles: 'Filter: words of the title, status:failed http:429 older:60s text:"refund"',
  messages: 'Search messages: words, "a phrase", agent:Support user:anna',
}

/** Returns whether the last word is complete: a word that is still being typed is not wrong yet. */
const isWhole = (text: string): boolean => /\s$|"$/.test(text)
