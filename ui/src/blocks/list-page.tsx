import { Alert, Button, Group, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { keepPreviousData, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { wordsOf } from '../api.ts'
import classes from './blocks.module.css'
import { Page } from './page.tsx'
import { type PageOf, type PageParams, usePaging } from './paging.ts'

export interface Column<Item> {
  header: string
  cell: (item: Item) => ReactNode
  /** CSS width; absent: what is left. */
  width?: string
  /** Left out on small screens. */
  minor?: boolean
}

interface ListPageProps<Item> {
  title: string
  description: ReactNode
  // biome-ignore lint/suspicious/noExplicitAny: TanStack's key type differs for each resource and is not looked at
  list: (params: PageParams) => UseQueryOptions<PageOf<Item>, Error, PageOf<Item>, any>
  /** The first column is the name and links to the record. */
  name: (item: Item) => string
  linkTo: (item: Item) => string
  columns: Column<Item>[]
  create?: { label: string; to: string }
  /** Instead of the table while there is not one record. */
  empty: ReactNode
}

/** A list with search, paging and links to its records. */
export function ListPage<Item extends { id: string }>(props: ListPageProps<Item>) {
  const { title, description, list, create, empty } = props
  const paging = usePaging()
  const query = useQuery({ ...list(paging.params), placeholderData: keepPreviousData })
  const { data, error } = query
  const nothing = data !== undefined && data.total === 0 && paging.q === '' && !query.isPlaceholderData
  return (
    <Page
      title={title}
      description={description}
      actions={
        create && (
          <Button component={Link} to={create.to} leftSection={<IconPlus size={16} aria-hidden />}>
            {create.label}
          </Button>
        )
      }
    >
      {error && (
        <Alert color="red" role="alert" mb="md">
          {wordsOf(error)}
        </Alert>
      )}
      {nothing ? (
        empty
      ) : (
        <>
          <Search key={title} label={`Search ${title.toLowerCase()}`} q={paging.q} setQ={paging.setQ} />
          <Rows {...props} data={data} busy={query.isPlaceholderData} />
          {data && <Pager total={data.total} {...paging.params} onOffset={paging.setOffset} />}
        </>
      )}
    </Page>
  )
}

function Search({ label, q, setQ }: { label: string; q: string; setQ: (q: string) => void }) {
  const [text, setText] = useState(q)
  // The back button and links change it too.
  useEffect(() => setText(q), [q])
  const search = useDebouncedCallback(setQ, 200)
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder="Search by name"
      leftSection={<IconSearch size={16} stroke={1.7} aria-hidden />}
      maw={320}
      mb="md"
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        search(value)
      }}
    />
  )
}

type RowsProps<Item> = ListPageProps<Item> & { data: PageOf<Item> | undefined; busy: boolean }

function Rows<Item extends { id: string }>({ title, name, linkTo, columns, data, busy }: RowsProps<Item>) {
  return (
    <div className={classes.card}>
      <Table className={classes.table ?? ''} aria-label={title} aria-busy={busy || data === undefined}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            {columns.map(({ header, width, minor }) => (
              <Table.Th key={header} w={width} data-minor={minor || undefined}>
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data?.items.map((item) => (
            <Table.Tr key={item.id}>
              <Table.Td>
                <Link to={linkTo(item)} className={classes.rowLink}>
                  {name(item)}
                </Link>
              </Table.Td>
              {columns.map(({ header, cell, minor }) => (
                <Table.Td key={header} data-minor={minor || undefined}>
                  {cell(item)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
          {data?.items.length === 0 && (
            <Table.Tr>
              <Table.Td colSpan={columns.length + 1}>
                <Text c="dimmed" ta="center" py="lg">
                  Nothing here has this in its name.
                </Text>
              </Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      {data === undefined && <Skeleton height={180} radius="lg" />}
    </div>
  )
}

interface PagerProps {
  total: number
  limit: number
  offset: number
  onOffset: (offset: number) => void
}

function Pager({ total, limit, offset, onOffset }: PagerProps) {
  if (total <= limit && offset === 0) return null
  return (
    <Group justify="space-between" mt="md">
      <Text fz="sm" c="dimmed" role="status">
        {Math.min(offset + 1, total)}–{Math.min(offset + limit, total)} of {total}
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={offset === 0}
          onClick={() => onOffset(Math.max(0, Math.min(offset, total) - limit))}
        >
          Previous
        </Button>
        <Button variant="default" size="xs" disabled={offset + limit >= total} onClick={() => onOffset(offset + limit)}>
          Next
        </Button>
      </Group>
    </Group>
  )
}
