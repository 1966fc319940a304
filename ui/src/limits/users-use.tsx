/** The usage of an agent's users within its limits: those with the most tokens of today, or one by name. */
import { Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconUser } from '@tabler/icons-react'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { atRecord } from '../blocks/resource.ts'
import { wholeNumber } from '../blocks/words.ts'
import { useRefusal } from '../login/roles.ts'

const SHOWN = 5

const usersUse = (agentId: string, user: string) =>
  queryOptions({
    queryKey: ['agents', 'users-use', agentId, user],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/agents/{id}/users/use', {
        params: { ...atRecord(agentId).params, query: { limit: SHOWN, ...(user !== '' && { user }) } },
        signal,
      }),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })

/** Nothing where the role does not open it. */
export function UsersUse({ agentId }: { agentId: string }) {
  return useRefusal('change') === undefined && <Use agentId={agentId} />
}

function Use({ agentId }: { agentId: string }) {
  const [typed, setTyped] = useState('')
  const [user] = useDebouncedValue(typed.trim(), 250)
  const { data, error } = useQuery(usersUse(agentId, user))
  return (
    <div>
      <TextInput
        type="search"
        label="Use by user"
        description="Counted from when this agent has limits. Those with the most tokens today come first."
        placeholder="Filter by user ID"
        leftSection={<IconUser size={15} stroke={1.8} aria-hidden />}
        maw={420}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <ErrorAlert error={error} />
      {data && data.users.length === 0 && (
        <Text fz="sm" c="dimmed" mt="sm">
          {user === '' ? 'No user has used anything this month.' : 'This user has used nothing this month.'}
        </Text>
      )}
      {data && data.users.length > 0 && (
        <Table.ScrollContainer minWidth={480} mt="sm">
          <Table aria-label="Use by user" fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>User</Table.Th>
                <Table.Th>Last minute</Table.Th>
                <Table.Th>Running</Table.Th>
                <Table.Th>Tokens today</Table.Th>
                <Table.Th>Cost this month</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.users.map(({ user: name, requestsLastMinute, runningReplies, tokensToday, costThisMonth }) => (
                <Table.Tr key={name}>
                  <Table.Td>
                    <bdi>{name}</bdi>
                  </Table.Td>
                  <Table.Td>{wholeNumber(requestsLastMinute)}</Table.Td>
                  <Table.Td>{wholeNumber(runningReplies)}</Table.Td>
                  <Table.Td>{wholeNumber(tokensToday)}</Table.Td>
                  <Table.Td>{costThisMonth.toLocaleString('en', { maximumFractionDigits: 4 })}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {data && data.total > SHOWN && (
        <Text fz="xs" c="dimmed" mt="xs">
          And {wholeNumber(data.total - SHOWN)} more users.
        </Text>
      )}
    </div>
  )
}
