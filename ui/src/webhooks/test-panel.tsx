/** Sends a ping, and says what the receiver made of it. */
import { Alert, Button } from '@mantine/core'
import { IconBolt, IconCheck, IconPlugOff } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Panel } from '../blocks/panel.tsx'
import { testWebhook } from './resource.ts'

export function TestPanel({ webhookId }: { webhookId: string }) {
  const test = useMutation({ mutationFn: () => testWebhook(webhookId) })
  const { data } = test
  return (
    <Panel
      title="Test"
      description={data ? undefined : 'Sends a signed ping to the address as last saved.'}
      action={
        <Button
          variant="default"
          size="xs"
          leftSection={<IconBolt size={14} aria-hidden />}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          {data ? 'Send again' : 'Send a ping'}
        </Button>
      }
    >
      <div role="status">
        <ErrorAlert error={test.error} />
        {data && (
          <Alert
            color={data.ok ? 'accent' : 'red'}
            icon={data.ok ? <IconCheck aria-hidden /> : <IconPlugOff aria-hidden />}
            title={data.ok ? `Received in ${data.latencyMs} ms` : 'The test failed'}
          >
            {data.message}
          </Alert>
        )}
      </div>
    </Panel>
  )
}
