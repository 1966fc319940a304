/** The line below a message: how it ended, what it took, and what can be done with it. */
import { ActionIcon, Tooltip } from '@mantine/core'
import { useCallbackRef } from '@mantine/hooks'
import {
  IconAlertTriangle,
  IconCheck,
  IconHandStop,
  IconPlayerStop,
  IconRefresh,
  IconScissors,
  IconTimeline,
} from '@tabler/icons-react'
import { lazy, memo, Suspense } from 'react'
import { Copy } from '../../blocks/copy.tsx'
import { RelativeTime } from '../../blocks/relative-time.tsx'
import { RunningDuration } from '../../blocks/running-duration.tsx'
import { Thumbs } from '../../feedback/thumbs.tsx'
import { reliable } from '../../shell/reliable-import.ts'
import type { ShownMessage } from '../connection/live-reply.ts'
import { Stored } from '../durable/stored.tsx'
import { BranchPicker } from '../transcript/branch-picker.tsx'
import type { MessageActions } from '../transcript/message-actions.ts'
import { Figures } from './figures.tsx'
import classes from './message.module.css'
import { MoreActions } from './more-actions.tsx'
import { hasBegun } from './reply-body.tsx'

const Waiting = lazy(reliable(() => import('../../traces/waiting.tsx')))

interface FootProps {
  message: ShownMessage
  /** The agent's own. */
  agentModel: string
  actions: MessageActions
  isTraceOpen: boolean
  /** Always the same function. */
  onTrace: () => void
}

export function Foot({ message, agentModel, actions, isTraceOpen, onTrace }: FootProps) {
  const { icon: Icon, words } = statusOf(message)
  const { id, content, parentId, beside, model } = message
  const current = useCallbackRef(() => message)
  return (
    <div className={classes.foot}>
      <span className={classes.status} data-testid="status">
        {Icon === null ? <i className={classes.pulse} aria-hidden /> : <Icon size={14} stroke={2} aria-hidden />}
        {words}
      </span>
      {model && model !== agentModel && <span>Answered by {model}</span>}
      <Figures message={message} />
      {message.status === 'streaming' ? (
        <>
          <RunningDuration since={message.createdAt} />
          {content !== '' && <Stored content={content} />}
          {id !== null && actions.sessionId !== null && (
            <Suspense>
              <Waiting
                key={id}
                agentId={actions.agentId}
                sessionId={actions.sessionId}
                messageId={id}
                since={message.createdAt}
              />
            </Suspense>
          )}
        </>
      ) : (
        <RelativeTime iso={message.createdAt} />
      )}
      {/* Together, when the figures before them fill the line. */}
      <span className={classes.actions}>
        <ReplyActions {...{ id, parentId, beside, current, actions, isTraceOpen, onTrace }} hasText={content !== ''} />
        {id !== null && message.status !== 'streaming' && actions.sessionId !== null && (
          <span className={classes.thumbs}>
            <Thumbs
              agentId={actions.agentId}
              sessionId={actions.sessionId}
              messageId={id}
              feedback={message.feedback ?? []}
            />
          </span>
        )}
      </span>
    </div>
  )
}

interface ReplyActionsProps extends Pick<FootProps, 'actions' | 'isTraceOpen' | 'onTrace'>, BranchesProps {
  parentId: ShownMessage['parentId']
  hasText: boolean
}

/** Rendered again when what can be done changes, not with each word of the reply. */
const ReplyActions = memo((props: ReplyActionsProps) => {
  const { id, parentId, current, actions, hasText, isTraceOpen, onTrace } = props
  const again = againOf(parentId ?? null, actions)
  return (
    <>
      {hasText && <Copy text={() => current().content} label="Copy reply" />}
      {again && <FootButton label="Regenerate" icon={IconRefresh} onClick={again} />}
      {id !== null && (
        <Tooltip label="Trace">
          <ActionIcon variant="subtle" color="gray" aria-label="Trace" aria-expanded={isTraceOpen} onClick={onTrace}>
            <IconTimeline size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      )}
      <Branches {...props} isReply />
    </>
  )
})

/** The texts for each way in which a reply has ended. */
const endings = {
  stop: { icon: IconCheck, words: 'Complete' },
  length: { icon: IconScissors, words: 'Cut off at the length limit' },
  content_filter: { icon: IconAlertTriangle, words: 'Stopped by the content filter' },
  cancelled: { icon: IconPlayerStop, words: 'Stopped' },
  tool_calls: { icon: IconHandStop, words: 'Waiting for an answer' },
  steered: { icon: IconPlayerStop, words: 'Ended for the next message' },
  error: { icon: IconAlertTriangle, words: 'Error' },
} satisfies Record<NonNullable<ShownMessage['finishReason']>, { icon: typeof IconCheck; words: string }>

/** Returns how far a reply has come, or how it ended. */
export function statusOf(message: ShownMessage): { icon: typeof IconCheck | null; words: string } {
  const { status, finishReason } = message
  if (status === 'streaming')
    return { icon: null, words: hasBegun(message) ? 'Writing' : 'Waiting for the first token' }
  return endings[status === 'error' ? 'error' : (finishReason ?? 'stop')]
}

/** Asks for another reply in the place of this one. Null while that is not possible. */
export function againOf(parentId: ShownMessage['parentId'], { regenerate }: MessageActions): (() => void) | null {
  return parentId == null || regenerate === null ? null : () => regenerate(parentId)
}

interface FootButtonProps {
  label: string
  icon: typeof IconCheck
  disabled?: boolean
  onClick: () => void
}

export const FootButton = ({ label, icon: Icon, disabled = false, onClick }: FootButtonProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon size={16} stroke={1.7} />
    </ActionIcon>
  </Tooltip>
)

interface BranchesProps {
  id: ShownMessage['id']
  beside: ShownMessage['beside']
  actions: MessageActions
  /** The message as it is when a button is pressed. */
  current: () => ShownMessage
}

/** The branches in this place, and what else can be done from here. */
export function Branches({ id, isReply, beside, actions, current }: BranchesProps & { isReply: boolean }) {
  if (id === null || beside === undefined) return null
  return (
    <>
      <MoreActions {...{ id, isReply, actions, current }} />
      <BranchPicker id={id} beside={beside} onTurn={actions.turnTo} />
    </>
  )
}
