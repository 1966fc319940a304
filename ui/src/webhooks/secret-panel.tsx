/** The secret, shown once after it was made, and the way to a new one. */
import { Button, Code, Group, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Copy } from '../blocks/copy.tsx'
import type { Edits } from '../blocks/editing/edits.ts'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Panel } from '../blocks/panel.tsx'
import { closeSecret, newSecretOf, replaceSecret } from './resource.ts'

export function SecretPanel({ webhookId, edits }: { webhookId: string; edits: Edits }) {
  const [secret, setSecret] = useState(() => newSecretOf(webhookId))
  const [isAsking, setIsAsking] = useState(false)
  const replace = useMutation({
    mutationFn: () => replaceSecret(webhookId, edits),
    onSuccess() {
      setSecret(newSecretOf(webhookId))
      setIsAsking(false)
    },
  })
  const close = () => {
    closeSecret(webhookId)
    setSecret(null)
  }
  return (
    <Panel
      title="Secret"
      description={
        secret === null
          ? 'Signs what is sent, by Standard Webhooks. It was shown when it was made; a new one can be made at any time.'
          : 'Copy it to your receiver now: it is not shown again.'
      }
    >
      <ErrorAlert error={replace.error} />
      {secret !== null && (
        <>
          <Group gap="xs" wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }} data-testid="secret">
              {secret}
            </Code>
            <Copy text={secret} label="Copy the secret" />
          </Group>
          <Button variant="default" size="xs" onClick={close}>
            I have copied it
          </Button>
        </>
      )}
      {secret === null && !isAsking && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconKey size={14} aria-hidden />}
          onClick={() => setIsAsking(true)}
        >
          New secret
        </Button>
      )}
      {isAsking && (
        <>
          <Text fz="sm">The present one signs beside it for 24 hours, so that your receiver can change over.</Text>
          <Group gap="xs">
            <Button size="xs" loading={replace.isPending} onClick={() => replace.mutate()}>
              Make a new secret
            </Button>
            <Button variant="default" size="xs" onClick={() => setIsAsking(false)}>
              Keep it
            </Button>
          </Group>
        </>
      )}
    </Panel>
  )
}
