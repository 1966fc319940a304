/** One column: its settings, its conversation, the newest reply's figures, and the choice of it. */
import { ActionIcon, Alert, Button, Group, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconX } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { Agent } from '../agents/resource.ts'
import { wordsOf } from '../api.ts'
import type { ChatRequest } from '../playground/connection/connection-machine.ts'
import type { ShownPart } from '../playground/connection/live-reply.ts'
import { useConnection } from '../playground/connection/use-connection.ts'
import { type OverrideState, requestPart } from '../playground/overrides/overrides.ts'
import type { Conversation } from '../playground/transcript/branches.ts'
import { useMessageActions } from '../playground/transcript/message-actions.ts'
import { TranscriptView } from '../playground/transcript/transcript-view.tsx'
import { ColumnFigures } from './column-figures.tsx'
import { ColumnSettings } from './column-settings.tsx'
import classes from './compare.module.css'
import { KeepDialog } from './keep-dialog.tsx'

const OverridesDrawer = lazy(() => import('../playground/overrides/overrides-drawer.tsx'))

/** What all columns are asked at once. A new object is a new question. */
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
  question: Question | null
  /** Null while no column may be removed. */
  onRemove: (() => void) | null
  onBusy: (name: string, isBusy: boolean) => void
  /** Counts up when all are to stop. */
  stopped: number
}

export function Column(props: ColumnProps) {
  const { agent, name, state, sessionId, onRemove } = props
  const [settings, setSettings] = useState(false)
  const [keeping, setKeeping] = useState(false)
  return (
    <section className={classes.column} aria-label={name}>
      <div className={classes.settings}>
        <Group justify="space-between" wrap="nowrap" gap={4}>
          <h2 className={classes.name}>{name}</h2>
          <Group gap={2} wrap="nowrap">
            <Small label={`All settings of ${name.toLowerCase()}`} onClick={() => setSettings(true)}>
              <IconAdjustmentsHorizontal size={16} stroke={1.7} />
            </Small>
            {onRemove && (
              <Small label={`Remove ${name.toLowerCase()}`} onClick={onRemove}>
                <IconX size={16} stroke={1.7} />
              </Small>
            )}
          </Group>
        </Group>
        <ColumnSettings agent={agent} state={state} />
      </div>
      {sessionId === null ? (
        <div className={classes.empty}>Its reply appears here.</div>
      ) : (
        <Asked key={sessionId} {...props} sessionId={sessionId} onKeep={() => setKeeping(true)} />
      )}
      <Suspense>
        {settings && (
          <OverridesDrawer
            agent={agent}
            state={state}
            title={`Overrides of ${name.toLowerCase()}`}
            onClose={() => setSettings(false)}
          />
        )}
        {keeping && <KeepDialog agent={agent} overrides={state.overrides} onClose={() => setKeeping(false)} />}
      </Suspense>
    </section>
  )
}

const Small = ({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
      {children}
    </ActionIcon>
  </Tooltip>
)

const noMessages: Conversation = { path: [], ids: [] }
const never = () => {}

interface AskedProps extends ColumnProps {
  sessionId: string
  onKeep: () => void
}

function Asked({ agent, name, state, sessionId, question, onBusy, stopped, onKeep }: AskedProps) {
  const connection = useConnection({ agentId: agent.id, sessionId, onSession: never })
  const { transcript, stored, isIdle, problem } = connection
  const part = requestPart(state.overrides)
  useQuestions(question, ({ chat, parts }) => connection.send({ ...chat, ...part }, parts))
  useEffect(() => {
    onBusy(name, !isIdle)
    return () => onBusy(name, false)
  }, [name, isIdle, onBusy])
  useStop(stopped, () => !isIdle && connection.stop())
  const all = useMessageActions({
    agentId: agent.id,
    sessionId,
    isIdle,
    edit: never,
    regenerate: (messageId) => connection.send({ regenerate: true, messageId, ...part }, []),
    forkWithin: never,
  })
  const actions = useMemo(() => ({ ...all, edit: null, forkWithin: null, compare: null }), [all])
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
        empty={null}
      />
      {problem && (
        <Alert color="red" m="xs" withCloseButton closeButtonLabel="Dismiss" onClose={connection.dismiss}>
          {wordsOf(problem.error)}
        </Alert>
      )}
      <div className={classes.outcome}>
        <ColumnFigures message={isIdle && last?.role === 'assistant' ? last : null} />
        <Button
          size="compact-sm"
          variant="default"
          disabled={!isIdle}
          onClick={onKeep}
          aria-label={`Apply to agent, ${name.toLowerCase()}`}
        >
          Apply to agent
        </Button>
      </div>
      <VisuallyHidden role="status">{isIdle ? '' : `${name} is being written.`}</VisuallyHidden>
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
