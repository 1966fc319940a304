/** A failed reply: what it means in a sentence, the provider's own words, and what can be done. */
import { Alert, Button, Group } from '@mantine/core'
import { IconAlertTriangle, IconArrowBackUp, IconPlugConnected, IconTimeline } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Copy } from '../../blocks/copy.tsx'
import { headlineOf } from '../../blocks/messages/outcome.ts'
import { Reason } from '../../blocks/messages/reason.tsx'
import type { ShownMessage } from '../connection/live-reply.ts'
import styles from './failure.module.css'
import classes from './message.module.css'

interface FailureProps {
  message: ShownMessage
  /** Null where it cannot be tried again. */
  again: (() => void) | null
  isTraceOpen: boolean
  /** Null while the reply has no id. */
  onTrace: (() => void) | null
}

export function Failure({ message: { id, error, providerId }, again, isTraceOpen, onTrace }: FailureProps) {
  if (error === null) return null
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={headlineOf(error)}
      mt="sm"
      className={classes.error ?? ''}
    >
      <Reason text={error.message} />
      <Group mt="xs" gap="sm" className={styles.actions ?? ''}>
        <Group gap={4} wrap="nowrap">
          <code>{error.code}</code>
          {id !== null && <Copy text={id} label="Copy the reply’s id" />}
        </Group>
        {onTrace && (
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={isTraceOpen}
            leftSection={<IconTimeline size={15} aria-hidden />}
            onClick={onTrace}
          >
            Show the trace
          </Button>
        )}
        {again && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconArrowBackUp size={15} aria-hidden />}
            onClick={again}
          >
            Try again
          </Button>
        )}
        {providerId != null && error.code.startsWith('provider_') && (
          <Button
            component={Link}
            to={`/providers/${providerId}`}
            size="compact-sm"
            variant="default"
            leftSection={<IconPlugConnected size={15} aria-hidden />}
          >
            Open the provider
          </Button>
        )}
      </Group>
    </Alert>
  )
}
