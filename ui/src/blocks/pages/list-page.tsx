import { Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { ButtonTo } from '../../login/button-to.tsx'
import { AwaitedRows } from '../awaited/awaited-rows.tsx'
import classes from '../blocks.module.css'
import { EmptyState } from '../messages/empty-state.tsx'
import { ReadFailure } from '../messages/when-read.tsx'
import { once } from '../once.ts'
import { RelativeTime } from '../relative-time.tsx'
import type { Resource, StoredRecord } from '../resource.ts'
import { Page } from './page.tsx'
import { Pager } from './pager.tsx'
import { type PageOf, usePaging } from './paging.ts'
import { useRowLinkKeys } from './row-keys.ts'
import { RowLink } from './row-link.tsx'
import { SortButton } from './sort-button.tsx'
import { type Sorting, type TextOf, type Texts, useSorting, useWholeList } from './whole-list.ts'

export interface Column<Item> {
  header: string
  cell: (item: Item) => ReactNode
  /** CSS width; absent: what is left. */
  width?: string
  /** Left out on small screens; `first`: also where a table of many columns leaves no room for names. */
  minor?: boolean | 'first'
  /** With one such column the list is read whole: it is searched in those columns too, and sorted by its headers. */
  text?: TextOf<Item>
}

const changed: Column<StoredRecord> = {
  header: 'Changed',
  width: '10rem',
  minor: true,
  cell: ({ updatedAt }) => <RelativeTime iso={updatedAt} />,
}

const name: Pick<Column<StoredRecord>, 'header' | 'width' | 'minor'> = { header: 'Name' }

/** Columns between a name and its last change for which a window of 1,200 pixels has room. */
const MANY = 3

/** Of a list that is read whole. */
const ROWS = 50

interface ListPageProps<Item extends StoredRecord> {
  resource: Resource<Item>
  description: string
  /** Columns between the name, which links to the record, and the time of the last change. */
  columns: Column<Item>[]
  /** The label of the button that leads to a new record. */
  create: string
  /** The label of that button while the list is empty. */
  createFirst: string
  /** The purpose of these records: shown while the list is empty. */
  children: ReactNode
}

/** A list with search, paging and links to its records. */
export function ListPage<Item extends StoredRecord>(props: ListPageProps<Item>) {
  const { resource, description, columns, create, createFirst, children } = props
  const { noun, title, path, icon, list } = resource
  const paging = usePaging()
  useRowLinkKeys()
  const { sorting, sortBy } = useSorting()
  const texts = textsOf(columns)
  const page = { ...paging.params, ...(texts && !paging.isLimited && { limit: ROWS }) }
  const paged = useQuery({ ...list(page), placeholderData: keepPreviousData, enabled: texts === null })
  const whole = useWholeList(resource, page, texts, sorting)
  const query = texts === null ? paged : whole
  const { data, error } = query
  const isPlaceholderData = texts === null && paged.isPlaceholderData
  const nothing = data !== undefined && data.total === 0 && paging.q === '' && !isPlaceholderData
  return (
    <Page
      title={title}
      description={description}
      actions={
        <ButtonTo to={`${path}/new`} leftSection={<IconPlus size={16} aria-hidden />}>
          {create}
        </ButtonTo>
      }
    >
      <ReadFailure error={error} query={query} mb="md" />
      {nothing ? (
        <EmptyState icon={icon} title={`No ${noun}s yet`} leadTo={{ path: `${path}/new`, label: createFirst }}>
          {children}
        </EmptyState>
      ) : (
        <>
          <Search
            key={title}
            label={`Search ${noun}s`}
            by={texts ? [...texts.searched.keys()] : [name.header]}
            q={paging.q}
            setQ={paging.setQ}
          />
          {(data || error === null) && (
            <Rows
              {...{ title, path, columns, data, sorting }}
              isStale={isPlaceholderData}
              onSort={texts === null ? null : sortBy}
            />
          )}
          {data && <Pager total={data.total} {...page} onOffset={paging.setOffset} />}
        </>
      )}
    </Page>
  )
}

/** Returns null where no column has a text: the server searches and pages such a list. */
function textsOf<Item extends StoredRecord>(columns: Column<Item>[]): Texts<Item> | null {
  const own = columns.flatMap(({ header, text }): [string, TextOf<Item>][] => (text ? [[header, text]] : []))
  if (own.length === 0) return null
  const searched = new Map<string, TextOf<Item>>([[name.header, (item) => item.name], ...own])
  return { searched, sorted: new Map([...searched, [changed.header, (item) => item.updatedAt]]) }
}

interface SearchProps {
  label: string
  /** Headers of the columns that are searched. */
  by: string[]
  q: string
  setQ: (q: string) => void
}

const either = once(() => new Intl.ListFormat('en', { type: 'disjunction' }))

function Search({ label, by, q, setQ }: SearchProps) {
  const [text, setText] = useState(q)
  const search = useDebouncedCallback(setQ, 200)
  // The back button and links change the address too. What was typed since is on its way there.
  useEffect(() => {
    if (!search.isPending()) setText(q)
  }, [q, search])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={`Search by ${either().format(by.map((header) => header.toLowerCase()))}`}
      leftSection={<IconSearch size={16} stroke={1.7} aria-hidden />}
      maw={{ base: '100%', xs: 320 }}
      mb="md"
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        search(value)
      }}
    />
  )
}

interface RowsProps<Item> {
  title: string
  path: string
  columns: Column<Item>[]
  data: PageOf<Item> | undefined
  /** The rows are those of another page or search, until the ones asked for have come. */
  isStale: boolean
  sorting: Sorting
  /** Null where it cannot be sorted. */
  onSort: ((header: string) => void) | null
}

function Rows<Item extends StoredRecord>(props: RowsProps<Item>) {
  const { title, path, columns, data, isStale, sorting, onSort } = props
  const all = [...columns, columns.length > MANY ? { ...changed, minor: 'first' as const } : changed]
  return (
    <div className={classes.card}>
      <Table
        className={`${classes.table} ${classes.lines}`}
        aria-label={title}
        aria-busy={isStale || data === undefined}
      >
        <Table.Thead>
          <Table.Tr>
            {[name, ...all].map(({ header, width, minor }) => (
              <Table.Th
                key={header}
                w={width}
                data-minor={minor || undefined}
                aria-sort={sorting.by !== header ? undefined : sorting.isDescending ? 'descending' : 'ascending'}
              >
                {onSort === null ? header : <SortButton header={header} sorting={sorting} onSort={onSort} />}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data?.items.map((item) => (
            <Table.Tr key={item.id}>
              <Table.Td title={item.name}>
                <RowLink to={`${path}/${item.id}`}>{item.name}</RowLink>
              </Table.Td>
              {all.map(({ header, cell, minor }) => (
                <Cell key={header} minor={minor ?? false}>
                  {cell(item)}
                </Cell>
              ))}
            </Table.Tr>
          ))}
          {data === undefined && <AwaitedRows columns={all.length + 1} />}
          {data?.items.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={all.length + 1}>
                <Text c="dimmed" ta="center" py="lg">
                  No results
                </Text>
              </Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** Words that its line cuts are read on hover. */
const Cell = ({ minor, children }: { minor: boolean | 'first'; children: ReactNode }) => (
  <Table.Td data-minor={minor || undefined} title={typeof children === 'string' ? children : undefined}>
    {children}
  </Table.Td>
)
