/** The MCP servers that a reply went without. */
import { Alert } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import type { ShownMessage } from '../connection/live-reply.ts'

const reasons = {
  unreachable: 'it was not reached in time',
  unauthorized: 'it refused our headers (401 or 403)',
  invalid: 'its answer could not be read',
  no_user: 'it needs the user of a session',
  no_value: 'one of its headers needs a value that the session lacks',
} as const

export const MissingTools = ({ missing }: { missing: NonNullable<ShownMessage['missingTools']> }) => (
  <Alert variant="default" icon={<IconPlugConnectedX size={18} />} title="Tools were missing" mb="sm">
    {missing.map(({ mcpServerId, server, reason }) => (
      <div key={mcpServerId}>
        {server}: {reasons[reason]}
      </div>
    ))}
  </Alert>
)
