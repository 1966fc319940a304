/** One message of the transcript: who, what, and how it ended. */
import { ActionIcon, Alert, Button, Group, Tooltip, VisuallyHidden } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconCheck,
  IconColumns2,
  IconCursorText,
  IconGitFork,
  IconHandStop,
  IconPencil,
  IconPlayerStop,
  IconRefresh,
  IconScissors,
  IconTimeline,
} from '@tabler/icons-react'
import { lazy, memo, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Copy } from '../../blocks/copy.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { MessageParts } from '../composer/attached.tsx'
import type { ShownMessage } from '../connection/live-reply.ts'
import { Markdown } from '../markdown/markdown.tsx'
import type { ToolCall } from '../queries.ts'
import { BranchPicker } from '../transcript/branch-picker.tsx'
import type { MessageActions } from '../transcript/message-actions.ts'
import { Reason } from './error-reason.tsx'
import { Figures } from './figures.tsx'
import classes from './message.module.css'
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
  actions: MessageActions
  /** It ends the path. */
  isLast: boolean
}

export const MessageView = memo((props: MessageProps) =>
  props.message.role === 'user' ? <UserMessage {...props} /> : <Reply {...props} />,
)

function UserMessage({ message, place, count, actions, isLast }: MessageProps) {
  const { id, content, createdAt, parts } = message
  const { regenerate } = actions
  return (
    <article className={classes.user} aria-label="You" aria-posinset={place} aria-setsize={count}>
      <VisuallyHidden component="h2">You</VisuallyHidden>
      {parts && parts.length > 0 && <MessageParts parts={parts} />}
      {content !== '' && <UserText text={content} />}
      <div className={classes.foot}>
        <RelativeTime iso={createdAt} />
        {actions.edit && (
          <FootButton
            label="Edit and send again"
            icon={IconPencil}
            // Its place is known once it is stored.
            disabled={id === null}
            onClick={() => actions.edit?.(message)}
          />
        )}
        <Copy text={content} label="Copy message" />
        {isLast && id !== null && regenerate && (
          <FootButton label="Answer this message" icon={IconRefresh} onClick={() => regenerate(id)} />
        )}
        {id !== null && actions.compare && (
          <FootButton label="Compare replies" icon={IconColumns2} onClick={() => actions.compare?.(id)} />
        )}
        <Branches message={message} actions={actions} />
      </div>
    </article>
  )
}

function Reply({ message, place, count, agentName, agentModel, unfolded, actions, isLast }: MessageProps) {
  const { content, reasoning = '', reasoningMs = null, toolCalls, status, error } = message
  const isWriting = status === 'streaming'
  const again = againOf(message, actions)
  const [isTraceOpen, setTraceOpen] = useState(() => unfolded.has(`${place} trace`))
  const toggleTrace = () => {
    setTraceOpen(!isTraceOpen)
    if (isTraceOpen) unfolded.delete(`${place} trace`)
    else unfolded.add(`${place} trace`)
  }
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
        <>
          <div className={classes.dots} role="img" aria-label="Waiting for the first word">
            <i />
            <i />
            <i />
          </div>
          {message.id !== null && <WhyItWaits key={message.id} messageId={message.id} />}
        </>
      )}
      {message.refusal && (
        <Alert color="yellow" variant="light" icon={<IconHandStop size={18} />} title="Refused" mt="sm">
          <Reason text={message.refusal} />
        </Alert>
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
            {again && isLast && (
              <Button
                size="compact-sm"
                variant="default"
                leftSection={<IconArrowBackUp size={15} aria-hidden />}
                onClick={again}
              >
                Try again
              </Button>
            )}
          </Group>
        </Alert>
      )}
      <Foot message={message} agentModel={agentModel} actions={actions}>
        {message.id !== null && (
          <Tooltip label="What happened">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="What happened"
              aria-expanded={isTraceOpen}
              onClick={toggleTrace}
            >
              <IconTimeline size={16} stroke={1.7} />
            </ActionIcon>
          </Tooltip>
        )}
      </Foot>
      {isTraceOpen && message.id !== null && (
        <Suspense>
          <ReplyTrace key={message.id} messageId={message.id} running={isWriting} />
        </Suspense>
      )}
    </article>
  )
}

/** Asks for another reply in the place of this one. Null while that is not possible. */
function againOf({ parentId }: ShownMessage, { regenerate }: MessageActions): (() => void) | null {
  return parentId == null || regenerate === null ? null : () => regenerate(parentId)
}

interface FootButtonProps {
  label: string
  icon: typeof IconCheck
  disabled?: boolean
  onClick: () => void
}

const FootButton = ({ label, icon: Icon, disabled = false, onClick }: FootButtonProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon size={16} stroke={1.7} />
    </ActionIcon>
  </Tooltip>
)

/** The branches in this place, and the fork of the session from here. */
function Branches({ message, actions }: Pick<MessageProps, 'message' | 'actions'>) {
  const { id, role, beside } = message
  const { fork, forkWithin } = actions
  if (id === null || beside === undefined) return null
  return (
    <>
      {fork && <FootButton label="Fork from here" icon={IconGitFork} onClick={() => fork(id)} />}
      {role === 'assistant' && forkWithin && (
        <FootButton label="Fork within this reply" icon={IconCursorText} onClick={() => forkWithin(message)} />
      )}
      <BranchPicker id={id} beside={beside} onTurn={actions.turnTo} />
    </>
  )
}

const ReplyTrace = lazy(() => import('../../traces/reply-trace.tsx'))
const Waiting = lazy(() => import('../../traces/waiting.tsx'))

/** The delay before the wait is explained: nearly every reply begins sooner. */
const patienceMs = 1000

function WhyItWaits({ messageId }: { messageId: string }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return isLate && <Suspense>{<Waiting messageId={messageId} />}</Suspense>
}

function Foot({
  message,
  agentModel,
  actions,
  children,
}: Pick<MessageProps, 'message' | 'agentModel' | 'actions'> & { children: ReactNode }) {
  const again = againOf(message, actions)
  const { icon: Icon, words } = statusOf(message)
  const { model } = message
  return (
    <div className={classes.foot}>
      <span className={classes.status} data-testid="status">
        {Icon === null ? <i className={classes.pulse} aria-hidden /> : <Icon size={14} stroke={2} aria-hidden />}
        {words}
      </span>
      {model && model !== agentModel && <span>Answered by {model}</span>}
      <Figures message={message} />
      <RelativeTime iso={message.createdAt} />
      {/* Together, when the figures before them fill the line. */}
      <Group component="span" display="inline-flex" gap={6}>
        {message.content !== '' && <Copy text={message.content} label="Copy reply" />}
        {again && <FootButton label="Another reply" icon={IconRefresh} onClick={again} />}
        <Branches message={message} actions={actions} />
        {children}
      </Group>
    </div>
  )
}

/** How a reply has ended. */
const endings = {
  stop: { icon: IconCheck, words: 'Complete' },
  length: { icon: IconScissors, words: 'Cut off at the length limit' },
  content_filter: { icon: IconAlertTriangle, words: 'Stopped by the content filter' },
  cancelled: { icon: IconPlayerStop, words: 'Stopped' },
  tool_calls: { icon: IconHandStop, words: 'Asked for a decision' },
  steered: { icon: IconPlayerStop, words: 'Ended for the next message' },
  error: { icon: IconAlertTriangle, words: 'Error' },
} satisfies Record<NonNullable<ShownMessage['finishReason']>, { icon: typeof IconCheck; words: string }>

function statusOf({ status, finishReason }: ShownMessage): { icon: typeof IconCheck | null; words: string } {
  if (status === 'streaming') return { icon: null, words: 'Writing' }
  return endings[status === 'error' ? 'error' : (finishReason ?? 'stop')]
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
