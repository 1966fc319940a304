import { ActionIcon, Group, Text } from '@mantine/core'
import { IconLogout } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { currentUser, logout } from '../login/queries.ts'

/** Shows the login, and a way to log out. Nothing where no login is required. */
export function Account() {
  const { data } = useQuery(currentUser)
  const leave = useMutation({ mutationFn: logout })
  if (data?.username == null) return null
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs" data-account>
      <Text fz="sm" truncate title={data.username}>
        {data.username}
        {data.role !== 'admin' && ` · ${data.role}`}
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Log out"
        title={`Log out (${data.username})`}
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        <IconLogout size={17} stroke={1.7} />
      </ActionIcon>
    </Group>
  )
}
