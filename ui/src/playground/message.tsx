/** One message of the transcript: who, what, and how it ended. */
import { ActionIcon, Alert, Button, Group, Tooltip, VisuallyHidden } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconCheck,
  IconPencil,
  IconPlayerStop,
  IconScissors,
} from '@tabler/icons-react'
import { memo } from 'react'
import { Copy } from '../blocks/copy.tsx'
import { RelativeTime } from '../blocks/relative-time.tsx'
import { Reason } from './error-reason.tsx'
import type { ShownMessage } from './live-reply.ts'
import { Markdown } from './markdown/markdown.tsx'
import classes from './message.module.css'
import type { ToolCall } from './queries.ts'
import { Reasoning } from './reasoning.tsx'
import { ToolCard } from './tool-card.tsx'
import { UserText } from './user-text.tsx'

interface MessageProps {
  message: ShownMessage
  /** Its position, from 1, and the number of messages. */
  place: number
  count: number
  agentName: string
  /** The agent's own. */
  agentModel: string
  /** The tool cards that the reader has expanded, also in messages that are not rendered. */
  unfolded: Set<string>
  onEdit: (text: string) => void
  /** Null where there is nothing to try again. */
  onRetry: (() => void) | null
}

export const MessageView = memo((props: MessageProps) =>
  props.message.role === 'user' ? <UserMessage {...props} /> : <Reply {...props} />,
)

function UserMessage({ message: { content, createdAt }, place, count, onEdit }: MessageProps) {
  return (
    <article className={classes.user} aria-label="You" aria-posinset={place} aria-setsize={count}>
      <VisuallyHidden component="h2">You</VisuallyHidden>
      <UserText text={content} />
      <div className={classes.foot}>
        <RelativeTime iso={createdAt} />
        <Tooltip label="Edit and send again">
          <ActionIcon variant="subtle" color="gray" aria-label="Edit and send again" onClick={() => onEdit(content)}>
            <IconPencil size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
        <Copy text={content} label="Copy message" />
      </div>
    </article>
  )
}

function Reply({ message, place, count, agentName, agentModel, unfolded, onRetry }: MessageProps) {
  const { content, reasoning = '', reasoningMs = null, toolCalls, status, error } = message
  const isWriting = status === 'streaming'
  return (
    <article
      className={classes.reply}
      aria-label={agentName}
      aria-posinset={place}
      aria-setsize={count}
      aria-busy={isWriting}
      data-status={status}
    >
      <VisuallyHidden component="h2">{agentName}</VisuallyHidden>
      {reasoning !== '' && (
        <Reasoning
          text={reasoning}
          ms={reasoningMs}
          thinking={isWriting && content === ''}
          id={`${place} reasoning`}
          unfolded={unfolded}
        />
      )}
      {segments(content, toolCalls).map((segment, index, all) =>
        'text' in segment ? (
          <Markdown key={segment.key} text={segment.text} growing={isWriting && index === all.length - 1} />
        ) : (
          <ToolCard
            key={segment.key}
            call={segment.call}
            running={isWriting}
            id={`${place} ${segment.key}`}
            unfolded={unfolded}
          />
        ),
      )}
      {isWriting && content === '' && reasoning === '' && toolCalls.length === 0 && (
        <div className={classes.dots} role="img" aria-label="Waiting for the first word">
          <i />
          <i />
          <i />
        </div>
      )}
      {error && (
        <Alert
          color="red"
          variant="light"
          icon={<IconAlertTriangle size={18} />}
          title="The reply failed"
          mt="sm"
          className={classes.error ?? ''}
        >
          <Reason text={error.message} />
          <Group mt="xs" gap="sm">
            <code>{error.code}</code>
            {onRetry && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconArrowBackUp size={15} aria-hidden />}
                onClick={onRetry}
              >
                Try again
              </Button>
            )}
          </Group>
        </Alert>
      )}
      <Foot message={message} agentModel={agentModel} />
    </article>
  )
}

function Foot({ message, agentModel }: Pick<MessageProps, 'message' | 'agentModel'>) {
  const { icon: Icon, words } = statusOf(message)
  const { model } = message
  return (
    <div className={classes.foot}>
      <span className={classes.status} data-testid="status">
        {Icon === null ? <i className={classes.pulse} aria-hidden /> : <Icon size={14} stroke={2} aria-hidden />}
        {words}
      </span>
      {model && model !== agentModel && <span>Answered by {model}</span>}
      <RelativeTime iso={message.createdAt} />
      {message.content !== '' && <Copy text={message.content} label="Copy reply" />}
    </div>
  )
}

function statusOf({ status, finishReason }: ShownMessage): { icon: typeof IconCheck | null; words: string } {
  if (status === 'streaming') return { icon: null, words: 'Writing' }
  if (status === 'error') return { icon: IconAlertTriangle, words: 'Error' }
  if (finishReason === 'cancelled') return { icon: IconPlayerStop, words: 'Stopped' }
  if (finishReason === 'length') return { icon: IconScissors, words: 'Cut off at the length limit' }
  if (finishReason === 'content_filter') return { icon: IconAlertTriangle, words: 'Stopped by the content filter' }
  return { icon: IconCheck, words: 'Complete' }
}

type Segment = { key: string; text: string } | { key: string; call: ToolCall }

/** The content, split where tools were called. */
function segments(content: string, calls: readonly ToolCall[]): Segment[] {
  const parts: Segment[] = []
  let at = 0
  calls.forEach((call, index) => {
    const text = content.slice(at, call.offset)
    if (text.trim() !== '') parts.push({ key: `text ${at}`, text })
    parts.push({ key: `call ${index}`, call })
    at = Math.max(at, call.offset)
  })
  const rest = content.slice(at)
  if (rest.trim() !== '') parts.push({ key: `text ${at}`, text: rest })
  return parts
}
