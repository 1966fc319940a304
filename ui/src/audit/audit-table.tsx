import { Button, Table } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation } from 'react-router'
import { AwaitedRows } from '../blocks/awaited/awaited-rows.tsx'
import blocks from '../blocks/blocks.module.css'
import { Copy } from '../blocks/copy.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { withParams } from '../blocks/search-params.ts'
import { localTime } from '../blocks/time-words.ts'
import { plural } from '../blocks/words.ts'
import classes from './audit.module.css'
import { FieldChange } from './field-change.tsx'
import type { AuditEntry } from './queries.ts'
import { actorName, meansOf, userOf, whatWords } from './words.ts'

interface AuditTableProps {
  /** Undefined until they are read. */
  entries: readonly AuditEntry[] | undefined
  isStale: boolean
}

const COLUMNS = 3

export const AuditTable = ({ entries, isStale }: AuditTableProps) => (
  <div className={blocks.card}>
    <Table className={`${blocks.table} ${classes.table}`} aria-label="Audit" aria-busy={isStale || !entries}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className={classes.when ?? ''}>When</Table.Th>
          <Table.Th className={classes.who ?? ''}>Who</Table.Th>
          <Table.Th>What</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries?.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
        {entries === undefined && <AwaitedRows columns={COLUMNS} />}
        {entries?.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={COLUMNS} ta="center" c="dimmed" py="lg">
              No results
            </Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  </div>
)

function Entry({ entry }: { entry: AuditEntry }) {
  const { search } = useLocation()
  const { at, actor, kind, recordId, recordName, changes, ip, requestId } = entry
  const [isOpen, setOpen] = useState(false)
  const fields = Object.entries(changes)
  const name = recordName ?? recordId
  const user = userOf(entry)
  return (
    <>
      <Table.Tr data-open={isOpen || undefined}>
        <Table.Td valign="top">
          <RelativeTime iso={at} />
          <div className={classes.quiet}>{localTime(at)}</div>
        </Table.Td>
        <Table.Td valign="top" className={classes.actor ?? ''}>
          {actor === null ? (
            <bdi>{actorName(entry)}</bdi>
          ) : (
            <Link
              to={`?${withParams(new URLSearchParams(search), { actor, offset: null })}`}
              title={`All that ${actor} did`}
            >
              <bdi>{actor}</bdi>
            </Link>
          )}
          <div className={classes.quiet}>
            {meansOf(entry)}
            {ip !== null && `, ${ip}`}
          </div>
        </Table.Td>
        <Table.Td valign="top">
          {whatWords(entry)}
          {name !== null && name !== actor && (
            <>
              : <bdi>{name}</bdi>
            </>
          )}{' '}
          {user !== null && <Link to={`/sessions?${new URLSearchParams({ user })}`}>Sessions of the user</Link>}{' '}
          {fields.length > 0 && (
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              className={classes.more ?? ''}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
              aria-label={`${isOpen ? 'Hide' : 'Show'} changes of ${name ?? kind}, ${plural(fields.length, 'field')}`}
            >
              {isOpen ? 'Hide changes' : 'Show changes'}
            </Button>
          )}
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={COLUMNS}>
            <div className={classes.changes}>
              {fields.map(([field, change]) => (
                <FieldChange key={field} name={field} {...change} />
              ))}
              {requestId !== null && (
                <div className={classes.quiet}>
                  Request {requestId} <Copy text={requestId} label="Copy the request id" />
                </div>
              )}
            </div>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}
