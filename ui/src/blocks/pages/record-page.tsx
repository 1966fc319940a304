import { Anchor, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { ApiError } from '../../api.ts'
import { queryClient } from '../../query-client.ts'
import { AwaitedFields } from '../awaited/awaited.tsx'
import { DeleteButton } from '../delete-button.tsx'
import { EditedRecordContext, type Edits, useEdits } from '../editing/edits.ts'
import { useNewest } from '../editing/use-newest.ts'
import { saved } from '../forms/unsaved-guard.tsx'
import { Gone } from '../messages/gone.tsx'
import { ReadFailure } from '../messages/when-read.tsx'
import { RelativeTime } from '../relative-time.tsx'
import type { Resource, StoredRecord } from '../resource.ts'
import { capitalized } from '../words.ts'
import { Page } from './page.tsx'
import { SideBySide } from './side-by-side.tsx'

interface RecordPageProps<Item extends StoredRecord> {
  resource: Resource<Item>
  /** A description in a word or two, below its name. */
  about?: (item: Item) => string
  /** Buttons at the left of "Delete". */
  actions?: (item: Item) => ReactNode
  /** The loss that a deletion causes, in a sentence or two. */
  deletion: string
  /** Why it cannot be deleted. Null where it can. */
  kept?: (item: Item) => string | null
  /** The width; by default a line is as long as can be read well. */
  width?: 'wide'
  /** Shown beside the form: what the record does. */
  side?: (item: Item, edits: Edits) => ReactNode
  /** The form, which calls `onSaved`. */
  children: (item: Item, onSaved: () => void, edits: Edits) => ReactNode
}

/** The page of the record that the address names: while it loads, where it is gone, and its form. */
export function RecordPage<Item extends StoredRecord>(props: RecordPageProps<Item>) {
  const { id = '' } = useParams()
  return <Addressed key={id} id={id} {...props} />
}

function Addressed<Item extends StoredRecord>({ id, ...props }: RecordPageProps<Item> & { id: string }) {
  const { noun, title, path, one } = props.resource
  const query = useNewest(one(id))
  const { data, error } = query
  const back = { to: path, label: title }
  if (data !== undefined) return <Existing {...props} item={data} back={back} />
  return (
    <Page title={capitalized(noun)} back={back}>
      {error === null ? (
        <AwaitedFields />
      ) : error instanceof ApiError && error.status === 404 ? (
        <>
          <Gone noun={noun} leadTo={{ path, label: title }} />
          <Near resource={props.resource} />
        </>
      ) : (
        <ReadFailure error={error} query={query} />
      )}
    </Page>
  )
}

const NEAR = { limit: 5, offset: 0 }

/** The records that are there, in place of the one that is not. */
function Near<Item extends StoredRecord>({ resource: { list, path, title } }: { resource: Resource<Item> }) {
  const { items = [], total = 0 } = useQuery(list(NEAR)).data ?? {}
  if (items.length === 0) return null
  return (
    <Text component="p" fz="sm" c="dimmed" ta="center" mt="md">
      {title} that are here:{' '}
      {items.map(({ id, name }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <Anchor component={Link} to={`${path}/${id}`} fz="sm">
            <bdi>{name}</bdi>
          </Anchor>
        </Fragment>
      ))}
      {total > items.length && `, and ${total - items.length} more, which Ctrl K finds by name`}
    </Text>
  )
}

type ExistingProps<Item extends StoredRecord> = RecordPageProps<Item> & {
  item: Item
  back: { to: string; label: string }
}

const showSaved = () => notifications.show({ message: 'Saved.' })

function Existing<Item extends StoredRecord>({ item, back, ...props }: ExistingProps<Item>) {
  const { resource, about, actions, deletion, kept, side, width, children } = props
  const navigate = useNavigate()
  return (
    <Page
      title={item.name}
      description={
        <>
          {about ? `${about(item)} · changed` : 'Changed'} <RelativeTime iso={item.updatedAt} />
        </>
      }
      back={back}
      width={side ? 'wide' : (width ?? 'reading')}
      actions={
        <>
          {actions?.(item)}
          <DeleteButton
            noun={resource.noun}
            name={item.name}
            remove={() => resource.remove(item.id)}
            onDeleted={() => navigate(resource.path, saved)}
            kept={kept?.(item) ?? null}
          >
            {deletion}
          </DeleteButton>
        </>
      }
    >
      <Edited {...{ resource, item, side, children }} />
    </Page>
  )
}

type EditedProps<Item extends StoredRecord> = Pick<ExistingProps<Item>, 'resource' | 'item' | 'children'> & {
  side: ExistingProps<Item>['side'] | undefined
}

/** The form, which holds the record as it is when the form begins. */
function Edited<Item extends StoredRecord>(props: EditedProps<Item>) {
  const [version, setVersion] = useState(0)
  // All that is known of the record: an agent's tools are a record of their own.
  const ofRecord = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[2] === props.item.id }
  const reload = () => void queryClient.refetchQueries(ofRecord).then(() => setVersion((before) => before + 1))
  return <Form key={version} {...props} reload={reload} />
}

function Form<Item extends StoredRecord>({
  resource,
  item,
  side,
  children,
  reload,
}: EditedProps<Item> & { reload: () => void }) {
  const edits = useEdits(`${resource.apiPath}/${item.id}`)
  const form = children(item, showSaved, edits)
  return (
    <EditedRecordContext value={{ edits, reload }}>
      {side ? <SideBySide side={side(item, edits)}>{form}</SideBySide> : form}
    </EditedRecordContext>
  )
}
