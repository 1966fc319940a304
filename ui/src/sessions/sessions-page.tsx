/** `/sessions`: the sessions of all agents, for operators. */
import { Group, SegmentedControl, Text } from '@mantine/core'
import { IconMessages } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ReadFailure } from '../blocks/messages/when-read.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { providerResource } from '../providers/resource.ts'
import { BulkActions } from './bulk-actions.tsx'
import { ColumnsMenu, useColumns } from './columns.tsx'
import { useSessionFilters } from './filters-in-url.ts'
import { SessionPreview } from './preview/session-preview.tsx'
import { allSessions } from './queries.ts'
import query from './query/query.module.css'
import { QueryField } from './query/query-field.tsx'
import { StatusTabs } from './query/status-tabs.tsx'
import { Hours, TimeRange } from './query/time-range.tsx'
import { SessionTable } from './session-table.tsx'
import classes from './sessions.module.css'
import { useLiveSessions } from './use-live-sessions.ts'
import { useRowKeys } from './use-row-keys.ts'
import { ViewsMenu } from './views.tsx'
import { shortId } from './words.ts'

const none: ReadonlySet<string> = new Set()
const places = [
  { value: 'titles', label: 'Titles' },
  { value: 'messages', label: 'Messages' },
]
/** Rows are half as high as elsewhere. */
const ROWS = 40
/** Filters that count from now match other sessions as time passes, so the list is read again. */
const AGAIN_MS = 10_000

export function Component() {
  const state = useSessionFilters()
  useLiveSessions()
  const navigate = useNavigate()
  const { paging, filters, isFiltered, setFilter } = state
  const page = { limit: paging.isLimited ? paging.params.limit : ROWS, offset: paging.params.offset }
  const list = useQuery({
    ...allSessions({ ...page, ...filters, include: 'reply' }),
    placeholderData: keepPreviousData,
    ...((filters.older || filters.newer) && { refetchInterval: AGAIN_MS }),
  })
  const { data, error, isPlaceholderData } = list
  const providers = useQuery(providerResource.all).data ?? []
  const providerName = (id: string) => providers.find((one) => one.id === id)?.name ?? shortId(id)
  const { chosen: shown, choose } = useColumns()
  const [chosen, setChosen] = useState(none)
  const [active, setActive] = useState<string | null>(null)
  const sessions = data?.sessions ?? []
  // What has left the page is not acted on.
  const selected = sessions.filter(({ id }) => chosen.has(id))
  const previewed = sessions.find(({ id }) => id === active)
  useRowKeys({
    ids: sessions.map(({ id }) => id),
    active: previewed?.id ?? null,
    onActive: setActive,
    onOpen(id) {
      const found = sessions.find((one) => one.id === id)
      if (found) void navigate(`/playground/${found.agentId}/${id}`, { viewTransition: true })
    },
    onToggle: (id) => setChosen(new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id])),
  })
  const nothing = data !== undefined && sessions.length === 0 && !isFiltered && !isPlaceholderData
  if (nothing && page.offset === 0) {
    return (
      <EmptyState
        icon={IconMessages}
        title="No sessions yet"
        leadTo={{ path: '/playground', label: 'Open the playground' }}
      >
        A session begins with the first message, in the playground or through the API.
      </EmptyState>
    )
  }
  return (
    <>
      <ReadFailure error={error} query={list} mb="md" />
      {filters.in === undefined && <StatusTabs filters={filters} onChange={(status) => setFilter('status', status)} />}
      <div className={query.bar}>
        <SegmentedControl
          aria-label="Search in"
          data={places}
          value={filters.in ?? 'titles'}
          onChange={(place) => setFilter('in', place === 'messages' ? place : null)}
        />
        <QueryField {...state} />
        <TimeRange {...state} />
        <Group gap={8} wrap="nowrap">
          <ViewsMenu isFiltered={isFiltered} />
          <ColumnsMenu chosen={shown} onChange={choose} />
        </Group>
      </div>
      <Hours {...state} />
      {data?.complete === false && <Text fz="sm">Older messages are still being made searchable.</Text>}
      <BulkActions selected={selected} onDone={() => setChosen(none)} />
      <div className={classes.columns} data-preview={previewed !== undefined || undefined}>
        <div>
          {(data || error === null) && (
            <SessionTable
              sessions={data?.sessions}
              isStale={isPlaceholderData}
              shown={shown}
              providerName={providerName}
              selected={new Set(selected.map(({ id }) => id))}
              onSelect={setChosen}
              onFilter={setFilter}
              active={previewed?.id ?? null}
              onActive={setActive}
            />
          )}
          {data && <Pager total={data.total} more={data.more} {...page} onOffset={paging.setOffset} />}
          <Text className={classes.keys ?? ''} fz="xs" c="dimmed" mt="xs">
            <kbd>J</kbd> <kbd>K</kbd> move, <kbd>Enter</kbd> opens, <kbd>X</kbd> selects, <kbd>Delete</kbd> deletes what
            is selected, <kbd>Esc</kbd> closes the preview
          </Text>
        </div>
        {previewed && (
          <SessionPreview session={previewed} providerName={providerName} onClose={() => setActive(null)} />
        )}
      </div>
    </>
  )
}
