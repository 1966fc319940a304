/** Shares of a session: a new one, whose link is shown once, and those that there are. */
import { Alert, Button, Checkbox, Group, Select, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { CodeBlock } from '../../blocks/code-block.tsx'
import { OpenedModal } from '../../blocks/late/opened-modal.tsx'
import { ErrorAlert } from '../../blocks/messages/error-alert.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { localTime } from '../../blocks/time-words.ts'
import { serverNow } from '../../shell/server-clock.ts'
import type { Session } from '../queries.ts'
import { createShare, revokeShare, type Share, sharesOf } from './queries.ts'

const DAY_S = 86_400
const spans = [
  { value: '', label: 'Until it is revoked' },
  { value: '1', label: 'For a day' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
]

interface ShareDialogProps {
  session: Session
  onClose: () => void
}

export default function ShareDialog({ session, onClose }: ShareDialogProps) {
  const { data: shares, error } = useQuery(sharesOf(session))
  const revocation = useMutation({ mutationFn: (id: string) => revokeShare(session, id) })
  return (
    <OpenedModal onClose={onClose} title="Share this session" size="lg">
      <Stack gap="lg">
        <NewShare session={session} />
        <ErrorAlert error={error ?? revocation.error} />
        {shares && shares.length > 0 && (
          <Table aria-label="Shares">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Shows</Table.Th>
                <Table.Th>Made</Table.Th>
                <Table.Th>Expires</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Revoke</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shares.map((share) => (
                <Table.Tr key={share.id}>
                  <Table.Td>{contentOf(share)}</Table.Td>
                  <Table.Td>
                    <RelativeTime iso={share.createdAt} />
                  </Table.Td>
                  <Table.Td>{expiryOf(share)}</Table.Td>
                  <Table.Td ta="right">
                    <Button
                      variant="default"
                      size="compact-xs"
                      loading={revocation.isPending && revocation.variables === share.id}
                      onClick={() => revocation.mutate(share.id)}
                    >
                      Revoke
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Stack>
    </OpenedModal>
  )
}

const contentOf = ({ live, include }: Share): string => [live ? 'Live' : 'As it was', ...include].join(', ')

function expiryOf({ expiresAt }: Share): string {
  if (expiresAt === null) return 'Never'
  const ms = expiresAt * 1000
  return ms <= serverNow() ? 'Expired' : localTime(new Date(ms).toISOString()).slice(0, 16)
}

function NewShare({ session }: { session: Session }) {
  const [live, setLive] = useState(false)
  const [include, setInclude] = useState<('tools' | 'reasoning')[]>([])
  const [days, setDays] = useState('')
  const making = useMutation({
    mutationFn: () => {
      const expiresAt = days === '' ? null : Math.floor(serverNow() / 1000) + Number(days) * DAY_S
      return createShare(session, { live, include, expiresAt })
    },
  })
  const toggle = (part: 'tools' | 'reasoning', isOn: boolean) =>
    setInclude((before) => [...before.filter((one) => one !== part), ...(isOn ? [part] : [])])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          Whoever has the link reads this session, without a login, and nothing else.
        </Text>
        <Checkbox
          label="Live: also what is said from now on"
          data-autofocus
          checked={live}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
        <Checkbox
          label="With calls of tools and their results"
          checked={include.includes('tools')}
          onChange={(event) => toggle('tools', event.currentTarget.checked)}
        />
        <Checkbox
          label="With reasoning"
          checked={include.includes('reasoning')}
          onChange={(event) => toggle('reasoning', event.currentTarget.checked)}
        />
        <Select
          label="Valid"
          data={spans}
          value={days}
          onChange={(value) => setDays(value ?? '')}
          allowDeselect={false}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={making.isPending}>
            Create link
          </Button>
        </Group>
        <ErrorAlert error={making.error} />
        {making.data && (
          <>
            <Alert color="accent" role="status" title="The link is ready">
              Copy it now: it is not shown again.
            </Alert>
            <CodeBlock code={`${location.origin}${making.data.path}`} caption="the link" />
          </>
        )}
      </Stack>
    </form>
  )
}
