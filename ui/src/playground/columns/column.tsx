/** A column: its settings, its conversation, the newest reply's figures, and the choice of it. */
import { ActionIcon, Alert, Button, Group, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconX } from '@tabler/icons-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Agent } from '../../agents/resource.ts'
import { wordsOf } from '../../api.ts'
import { ReadFailure } from '../../blocks/messages/when-read.tsx'
import { WaitingCalls } from '../composer/waiting-calls.tsx'
import type { ChatRequest } from '../connection/connection-machine.ts'
import type { ShownPart } from '../connection/live-reply.ts'
import { useConnection } from '../connection/use-connection.ts'
import { changedIn, type OverrideState, requestPart } from '../overrides/overrides.ts'
import { SaveDialog } from '../side/save-dialog.tsx'
import type { Conversation } from '../transcript/branches.ts'
import { useMessageActions } from '../transcript/message-actions.ts'
import { TranscriptView } from '../transcript/transcript-view.tsx'
import { ColumnFigures } from './column-figures.tsx'
import { ColumnSettings } from './column-settings.tsx'
import classes from './columns.module.css'
import type { Origin } from './columns-in-url.ts'
import { Earlier } from './earlier.tsx'
import type { ColumnState } from './use-asking.ts'

/** The message that is sent to all columns at once. A new object is a new question. */
export interface Question {
  chat: Pick<ChatRequest, 'message' | 'regenerate'>
  parts: readonly ShownPart[]
}

interface ColumnProps {
  agent: Agent
  /** "Column 1" */
  name: string
  state: OverrideState
  sessionId: string | null
  /** The conversation of which the column's session begins with a copy. Null when it begins empty. */
  origin: Origin | null
  question: Question | null
  /** Whether the side panel shows this column's settings. */
  isSelected: boolean
  onSelect: () => void
  /** Opens the side panel with this column's settings. */
  onSettings: () => void
  /** Null while a reply runs. */
  onRemove: (() => void) | null
  /** Null once the column has none any longer. */
  onState: (name: string, state: ColumnState | null) => void
  /** Counts up when all are to stop. */
  stopped: number
}

export function Column(props: ColumnProps) {
  const { agent, name, state, sessionId, origin, isSelected, onSelect, onSettings, onRemove } = props
  return (
    <section
      className={classes.column}
      aria-label={name}
      data-selected={isSelected || undefined}
      onFocusCapture={onSelect}
      onPointerDownCapture={onSelect}
    >
      <div className={classes.settings}>
        <Group justify="space-between" wrap="nowrap" gap={4}>
          <h2 className={classes.name}>{name}</h2>
          <Group gap={2} wrap="nowrap">
            <Small label={`All settings of ${name.toLowerCase()}`} onClick={onSettings}>
              <IconAdjustmentsHorizontal size={16} stroke={1.7} />
            </Small>
            <Small label={`Remove ${name.toLowerCase()}`} onClick={onRemove}>
              <IconX size={16} stroke={1.7} />
            </Small>
          </Group>
        </Group>
        <ColumnSettings agent={agent} state={state} />
      </div>
      {sessionId !== null ? (
        <Asked key={sessionId} {...props} sessionId={sessionId} />
      ) : origin ? (
        <Earlier agent={agent} origin={origin} />
      ) : (
        <div className={classes.empty}>Its reply appears here.</div>
      )}
    </section>
  )
}

interface SmallProps {
  label: string
  /** Null while it cannot be done. */
  onClick: (() => void) | null
  children: React.ReactNode
}

const Small = ({ label, onClick, children }: SmallProps) => (
  <Tooltip label={label}>
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      disabled={onClick === null}
      {...(onClick && { onClick })}
    >
      {children}
    </ActionIcon>
  </Tooltip>
)

const noMessages: Conversation = { path: [], ids: [] }
const never = () => {}

interface AskedProps extends ColumnProps {
  sessionId: string
}

function Asked({ agent, name, state, sessionId, question, onState, stopped }: AskedProps) {
  const connection = useConnection({ agentId: agent.id, sessionId, onSession: never })
  const { transcript, stored, unread, isIdle, problem, pending } = connection
  const part = requestPart(state.overrides)
  useQuestions(question, ({ chat, parts }) => connection.send({ ...chat, ...part }, parts))
  const waiting = pending.length
  useEffect(() => {
    onState(name, { isBusy: !isIdle, waiting })
    return () => onState(name, null)
  }, [name, isIdle, waiting, onState])
  useStop(stopped, () => !isIdle && connection.stop())
  const all = useMessageActions({
    agentId: agent.id,
    sessionId,
    isIdle,
    edit: never,
    regenerate: (messageId) => connection.send({ regenerate: true, messageId, ...part }, []),
    forkWithin: never,
  })
  const actions = useMemo(() => ({ ...all, edit: null, forkWithin: null, compare: null, linkTo: null }), [all])
  const last = stored.data?.path.at(-1)
  return (
    <>
      <TranscriptView
        agentName={agent.name}
        agentModel={agent.model}
        stored={stored.data ?? noMessages}
        checkpoints={[]}
        transcript={transcript}
        actions={actions}
        empty={unread !== null && <ReadFailure error={unread} query={stored} />}
      />
      {waiting > 0 && (
        <div className={classes.waiting}>
          <WaitingCalls pending={pending} onDecide={connection.decide} of={name.toLowerCase()} />
        </div>
      )}
      {problem && (
        <Alert color="red" m="xs" withCloseButton closeButtonLabel="Dismiss" onClose={connection.dismiss}>
          {wordsOf(problem.error)}
        </Alert>
      )}
      <div className={classes.outcome}>
        <ColumnFigures message={isIdle && last?.role === 'assistant' ? last : null} />
        <Apply {...{ agent, name, state, isIdle }} hasFailed={last?.status === 'error'} />
      </div>
      <VisuallyHidden role="status">{isIdle ? '' : `${name} is being written.`}</VisuallyHidden>
    </>
  )
}

interface ApplyProps extends Pick<ColumnProps, 'agent' | 'name' | 'state'> {
  isIdle: boolean
  /** Settings that no reply came of are not made the agent's. */
  hasFailed: boolean
}

function Apply({ agent, name, state, isIdle, hasFailed }: ApplyProps) {
  const [isSaving, setSaving] = useState(false)
  const isAsItIs = changedIn(state.overrides).length === 0
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={!isIdle || isAsItIs || hasFailed}
        title={isAsItIs ? 'It has the agent’s own settings' : hasFailed ? 'Its reply failed' : undefined}
        onClick={() => setSaving(true)}
        aria-label={`Apply to agent, ${name.toLowerCase()}`}
      >
        Apply to agent
      </Button>
      {isSaving && <SaveDialog agent={agent} state={state} onClose={() => setSaving(false)} />}
    </>
  )
}

/** Asks each question once; the one that opened the session too. */
function useQuestions(question: Question | null, ask: (question: Question) => void): void {
  const asked = useRef<Question | null>(null)
  useEffect(() => {
    if (question === null || asked.current === question) return
    asked.current = question
    ask(question)
  })
}

function useStop(stopped: number, stop: () => void): void {
  const done = useRef(stopped)
  useEffect(() => {
    if (done.current === stopped) return
    done.current = stopped
    stop()
  })
}
