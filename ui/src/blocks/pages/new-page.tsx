import { notifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import type { Resource, StoredRecord } from '../resource.ts'
import { Page } from './page.tsx'

interface NewPageProps {
  resource: Resource
  title: string
  description?: string
  /** The width; by default a line is as long as can be read well. */
  width?: 'wide' | 'reading'
  /** The form, which calls `onCreated`. */
  children: (onCreated: (record: Pick<StoredRecord, 'id' | 'name'>) => void) => ReactNode
}

/** The page on which a record is created; it leads on to the record's own. */
export function NewPage({
  resource: { noun, path, title: listTitle },
  title,
  description,
  width = 'reading',
  children,
}: NewPageProps) {
  const navigate = useNavigate()
  return (
    <Page title={title} description={description} back={{ to: path, label: listTitle }} width={width}>
      {children(({ id, name }) => {
        notifications.show({ message: `Created the ${noun} “${name}”.` })
        void navigate(`${path}/${id}`, { state: { saved: true, isNew: true }, replace: true })
      })}
    </Page>
  )
}
