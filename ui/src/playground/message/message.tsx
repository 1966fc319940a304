/** A message of the transcript, with its author. */
import { Alert, VisuallyHidden } from '@mantine/core'
import { useCallbackRef } from '@mantine/hooks'
import { IconHandStop, IconPencil, IconRefresh } from '@tabler/icons-react'
import { lazy, memo, Suspense, useState } from 'react'
import { Copy } from '../../blocks/copy.tsx'
import { Reason } from '../../blocks/messages/reason.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { Opinions } from '../../feedback/opinions.tsx'
import { reliable } from '../../shell/reliable-import.ts'
import { MessageParts } from '../composer/attached.tsx'
import type { ShownMessage } from '../connection/live-reply.ts'
import { marksOf } from '../durable/seam.tsx'
import type { MessageActions } from '../transcript/message-actions.ts'
import { Failure } from './failure.tsx'
import { againOf, Branches, Foot, FootButton } from './foot.tsx'
import classes from './message.module.css'
import { MissingTools } from './missing-tools.tsx'
import { ReplyBody } from './reply-body.tsx'
import { UserText } from './user-text.tsx'

interface MessageProps {
  message: ShownMessage
  /** The message's position, from 1, and the number of messages. */
  place: number
  count: number
  agentName: string
  /** The agent's own. */
  agentModel: string
  /** The tool cards that the reader has expanded, also in messages that are not rendered. */
  unfolded: Set<string>
  actions: MessageActions
  /** True if it ends the path. */
  isLast: boolean
  /** A message of the user's follows it. */
  isFollowedByMessage: boolean
}

export const MessageView = memo((props: MessageProps) =>
  props.message.role === 'user' ? <UserMessage {...props} /> : <Reply {...props} />,
)

function UserMessage({ message, place, count, actions, isLast }: MessageProps) {
  const { id, content, createdAt, parts, beside } = message
  const { regenerate } = actions
  return (
    <article className={classes.user} aria-label="You" aria-posinset={place} aria-setsize={count}>
      <VisuallyHidden component="h2">You</VisuallyHidden>
      {parts && parts.length > 0 && <MessageParts parts={parts} />}
      {content !== '' && <UserText text={content} />}
      <div className={classes.foot}>
        <RelativeTime iso={createdAt} />
        <FootButton
          label="Edit and send again"
          icon={IconPencil}
          // Its place is known once it is stored.
          disabled={id === null}
          onClick={() => actions.edit(message)}
        />
        <Copy text={content} label="Copy message" />
        {isLast && id !== null && regenerate && (
          <FootButton label="Answer this message" icon={IconRefresh} onClick={() => regenerate(id)} />
        )}
        <Branches id={id} isReply={false} beside={beside} actions={actions} current={() => message} />
      </div>
    </article>
  )
}

function Reply({
  message,
  place,
  count,
  agentName,
  agentModel,
  unfolded,
  actions,
  isLast,
  isFollowedByMessage,
}: MessageProps) {
  const { toolCalls, status, error } = message
  const isWriting = status === 'streaming'
  const again = againOf(message.parentId ?? null, actions)
  const [isTraceOpen, setTraceOpen] = useState(() => unfolded.has(`${place} trace`))
  const toggleTrace = useCallbackRef(() => {
    setTraceOpen(!isTraceOpen)
    if (isTraceOpen) unfolded.delete(`${place} trace`)
    else unfolded.add(`${place} trace`)
  })
  return (
    <article
      className={classes.reply}
      aria-label={agentName}
      aria-posinset={place}
      aria-setsize={count}
      aria-busy={isWriting}
      data-status={status}
      data-last={isLast || undefined}
    >
      <VisuallyHidden component="h2">{agentName}</VisuallyHidden>
      {message.missingTools && <MissingTools missing={message.missingTools} />}
      <ReplyBody
        message={message}
        id={String(place)}
        unfolded={unfolded}
        marks={marksOf(message)}
        isFollowedByMessage={isFollowedByMessage}
      />
      {message.refusal && (
        <Alert color="yellow" variant="light" icon={<IconHandStop size={18} />} title="Refused" mt="sm">
          {!message.content.includes(message.refusal) && <Reason text={message.refusal} />}
        </Alert>
      )}
      {error && (
        <Failure
          message={message}
          again={isLast ? again : null}
          isTraceOpen={isTraceOpen}
          onTrace={message.id === null ? null : toggleTrace}
        />
      )}
      <Foot message={message} {...{ agentModel, actions, isTraceOpen }} onTrace={toggleTrace} />
      {message.feedback && <Opinions feedback={message.feedback} />}
      {isTraceOpen && message.id !== null && actions.sessionId !== null && (
        <Suspense>
          <ReplyTrace
            key={message.id}
            reply={{ id: message.id, sessionId: actions.sessionId, isRunning: isWriting, toolCalls, error }}
          />
        </Suspense>
      )}
    </article>
  )
}

const ReplyTrace = lazy(reliable(() => import('../../traces/reply-trace.tsx')))
