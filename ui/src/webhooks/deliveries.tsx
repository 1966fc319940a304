/** The deliveries of the webhook, and their outcomes. */
import { Badge, Button, Table, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import blocks from '../blocks/blocks.module.css'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Pager } from '../blocks/pages/pager.tsx'
import { Panel } from '../blocks/panel.tsx'
import { RelativeTime, TimeUntil } from '../blocks/relative-time.tsx'
import { plural } from '../blocks/words.ts'
import { type Delivery, deliveriesOf, PAGE, redeliver } from './resource.ts'

const tones: Record<Delivery['status'], string> = { pending: 'gray', delivered: 'accent', failed: 'red' }
const words: Record<Delivery['status'], string> = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }

export function Deliveries({ webhookId }: { webhookId: string }) {
  const [offset, setOffset] = useState(0)
  const { data, error } = useQuery(deliveriesOf(webhookId, offset))
  const again = useMutation({ mutationFn: (id: string) => redeliver(webhookId, id) })
  return (
    <Panel title="Deliveries" description="Kept for 30 days, newest first.">
      <ErrorAlert error={error ?? again.error} />
      {data === undefined && error === null && <AwaitedLines count={4} />}
      {data?.total === 0 && <Text fz="sm">Nothing has been sent yet.</Text>}
      {data !== undefined && data.total > 0 && (
        <>
          <Table className={blocks.table} aria-label="Deliveries">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Event</Table.Th>
                <Table.Th>Status</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.deliveries.map((delivery) => (
                <Row
                  key={delivery.id}
                  delivery={delivery}
                  isBusy={again.isPending && again.variables === delivery.id}
                  onAgain={() => again.mutate(delivery.id)}
                />
              ))}
            </Table.Tbody>
          </Table>
          <Pager total={data.total} limit={PAGE} offset={offset} onOffset={setOffset} />
        </>
      )}
    </Panel>
  )
}

interface RowProps {
  delivery: Delivery
  isBusy: boolean
  onAgain: () => void
}

const Row = ({ delivery, isBusy, onAgain }: RowProps) => {
  const { type, status, attempts, lastError, nextAttemptAt, createdAt } = delivery
  return (
    <Table.Tr>
      <Table.Td>
        {type}
        <Text fz="xs" c="dimmed">
          <RelativeTime iso={createdAt} />
        </Text>
        <Button variant="default" size="compact-xs" mt={4} loading={isBusy} onClick={onAgain}>
          Deliver again
        </Button>
      </Table.Td>
      <Table.Td>
        <Badge color={tones[status]} variant="light" tt="none">
          {status === 'pending' && attempts > 0 ? 'Retrying' : words[status]}
        </Badge>
        <Text fz="xs" c="dimmed">
          {plural(attempts, 'attempt')}
        </Text>
        {lastError !== null && <Text fz="xs">{lastError}</Text>}
        {nextAttemptAt !== null && attempts > 0 && (
          <Text fz="xs" c="dimmed">
            Next attempt <TimeUntil iso={nextAttemptAt} />
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
