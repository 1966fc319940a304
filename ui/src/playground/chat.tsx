/** A conversation with an agent. */
import { Text, VisuallyHidden } from '@mantine/core'
import { useCallbackRef } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useSelector } from '@xstate/store-react'
import { type ComponentProps, lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import type { Agent } from '../agents/resource.ts'
import { late, useLoaded } from '../blocks/late/use-loaded.ts'
import { reliable } from '../shell/reliable-import.ts'
import { askedVersion } from '../versions/draft-writing.ts'
import classes from './chat.module.css'
import { isGone, Loading, Notices, SessionGone, Unread } from './chat-notices.tsx'
import { useAttachments } from './composer/attachments.ts'
import { Composer } from './composer/composer.tsx'
import type { Place } from './composer/drafts.ts'
import { EditingChip } from './composer/editing-chip.tsx'
import { useEscapeToStop } from './composer/escape-to-stop.ts'
import { type Field, focusOn, keepFocus, useFocusedField } from './composer/focused-field.ts'
import { useDraft } from './composer/use-draft.ts'
import { useEditing } from './composer/use-editing.ts'
import { useFileDrop } from './composer/use-file-drop.ts'
import { useSending } from './composer/use-sending.ts'
import { rejecting, WaitingCalls } from './composer/waiting-calls.tsx'
import { Durability } from './connection/durability.tsx'
import type { ShownMessage } from './connection/live-reply.ts'
import { useConnection } from './connection/use-connection.ts'
import { useHeard } from './message/heard.ts'
import { type Checkpoint, checkpointList } from './queries.ts'
import { QueuedMessages } from './queue/queued-messages.tsx'
import type { Conversation } from './transcript/branches.ts'
import { type MessageActions, useMessageActions } from './transcript/message-actions.ts'
import { Opening } from './transcript/opening.tsx'
import type { TranscriptView } from './transcript/transcript-view.tsx'

const transcriptPart = late(reliable(() => import('./transcript/transcript-view.tsx')))
const ForkDialog = lazy(reliable(() => import('./transcript/fork-dialog.tsx')))

interface ChatProps {
  agent: Agent
  /** Null stands for a new one. */
  sessionId: string | null
  onSession: (id: string) => void
  /** Ends the search within the session. Null while there is none. */
  onFound: (() => void) | null
  /** The heading and what belongs beside it. */
  header: (message: string) => ReactNode
}

export function Chat({ agent, sessionId: given, onSession, onFound, header }: ChatProps) {
  const connection = useConnection({ agentId: agent.id, sessionId: given, onSession })
  const { transcript, stored, unread, sessionId, isIdle, isAccepted, isReconnecting, isStopping } = connection
  const draft = useDraft(agent.id, sessionId)
  const field = useFocusedField(sessionId)
  const place = useEditing(agent.id, sessionId)
  const { editing, setEditing } = place
  const attachments = useAttachments()
  const { lastMessage, recall } = lastAsked(connection, attachments, setEditing)
  const { onSend, open, problem, dismiss } = useSending({
    agentId: agent.id,
    connection,
    draft,
    attachments,
    place,
  })
  const stop = isIdle ? null : connection.stop
  const stopsNext = useEscapeToStop(stop, field)
  const write = useCallbackRef((text: string) => {
    draft.setText(text)
    field.current?.focus()
  })
  const [within, setWithin] = useState<ShownMessage | null>(null)
  const actions = useMessageActions({
    agentId: agent.id,
    sessionId,
    isIdle,
    edit({ content, parentId, parts = [] }) {
      setEditing(parentId === undefined ? null : { parentId })
      attachments.take(parts)
      write(content)
    },
    async regenerate(messageId) {
      connection.send({ regenerate: true, messageId, ...(await askedVersion(agent.id)) }, [])
    },
    forkWithin: setWithin,
  })
  const checkpoints = useCheckpoints(agent.id, sessionId)
  const opening = useOpening(agent, open, field)
  const isLive = useSelector(transcript, ({ context }) => context.live !== null)
  const heard = useHeard(isIdle, stored.data?.path.at(-1))
  if (isGone(stored.error ?? unread)) {
    return <SessionGone header={header('')} agentId={agent.id} sessionId={sessionId} text={draft.text} />
  }
  if (unread !== null && !isLive) return <Unread header={header('')} error={unread} query={stored} />
  return (
    <>
      {header(draft.text || (lastMessage() ?? ''))}
      <Shown
        isNew={sessionId === null}
        isWritten={draft.text !== ''}
        isLoading={sessionId !== null && stored.isPending && !isLive}
        agentName={agent.name}
        agentModel={agent.model}
        stored={stored.data ?? noMessages}
        {...{ checkpoints, transcript, actions, onFound }}
        empty={opening}
      />
      <Dropping onFiles={attachments.add} />
      <div className={classes.bottom}>
        {isAccepted && sessionId && <Durability sessionId={sessionId} />}
        <WaitingCalls pending={connection.pending} onDecide={connection.decide} />
        <Notices problem={problem} onDismiss={dismiss} isReconnecting={isReconnecting} />
        {sessionId && (
          <QueuedMessages
            agentId={agent.id}
            sessionId={sessionId}
            isRunning={isAccepted}
            onRemoved={() => field.current?.focus()}
          />
        )}
        <Composer
          text={draft.text}
          setText={draft.setText}
          field={field}
          onSend={onSend}
          attachments={attachments}
          onStop={stop}
          isStopping={isStopping}
          queues={isAccepted}
          recall={recall}
          placeholder={placeholderOf(agent, connection.pending.length, isIdle)}
          sendLabel={sendLabelOf(connection.pending.length, isIdle)}
        >
          {editing && <EditingChip onCancel={() => setEditing(null)} />}
        </Composer>
        <Keys isIdle={isIdle} stopsNext={stopsNext} />
      </div>
      {sessionId && <Within {...{ agent, sessionId, within, actions }} onClose={() => setWithin(null)} />}
      <VisuallyHidden role="status">{isIdle ? heard : 'The reply is being written.'}</VisuallyHidden>
    </>
  )
}

interface ShownProps extends ComponentProps<typeof TranscriptView> {
  /** Whether the conversation has no session yet. */
  isNew: boolean
  /** Whether something is written in the field. */
  isWritten: boolean
  /** Whether the stored messages are still being loaded. */
  isLoading: boolean
}

/** The messages; before the first one, what to try, without what shows messages, which few visits need at once. */
function Shown({ isNew, isWritten, isLoading, ...conversation }: ShownProps) {
  const { transcript, onFound, empty } = conversation
  const isSent = useSelector(transcript, ({ context }) => context.live !== null)
  const isEmpty = isNew && !isSent && onFound === null
  const View = useLoaded(transcriptPart, !isEmpty || isWritten)?.TranscriptView
  const [beganNew] = useState(isNew)
  if (isEmpty || (beganNew && View === undefined)) {
    return (
      <section className={classes.beginning} role="log" aria-label="Conversation" aria-live="off">
        {empty}
      </section>
    )
  }
  return isLoading || View === undefined ? <Loading /> : <View {...conversation} />
}

const noCheckpoints: readonly Checkpoint[] = []

function useCheckpoints(agentId: string, sessionId: string | null): readonly Checkpoint[] {
  const { data } = useQuery({ ...checkpointList(agentId, sessionId ?? ''), enabled: sessionId !== null })
  return data ?? noCheckpoints
}

interface WithinProps {
  agent: Agent
  sessionId: string
  /** The reply within which a place is chosen. */
  within: ShownMessage | null
  actions: MessageActions
  onClose: () => void
}

const Within = ({ agent, sessionId, within, actions, onClose }: WithinProps) => (
  <Suspense>
    {within && (
      <ForkDialog agentId={agent.id} sessionId={sessionId} message={within} fork={actions.fork} onClose={onClose} />
    )}
  </Suspense>
)

/** Returns the user's newest message: its text, and what ↑ does with it. */
function lastAsked(
  { transcript, stored }: Pick<ReturnType<typeof useConnection>, 'transcript' | 'stored'>,
  { files, take, takeLast }: ReturnType<typeof useAttachments>,
  setEditing: (place: Place) => void,
) {
  const last = stored.data?.path.findLast(({ role }) => role === 'user')
  const live = () => transcript.getSnapshot().context.live?.userText ?? null
  const lastMessage = () => live() ?? last?.content
  /** Edits it, as the pencil beside it does; sends it anew where the server's message is not known yet. */
  const recall = () => {
    const isStored = last !== undefined && (live() === null || live() === last.content)
    if (isStored && last.parentId !== undefined) setEditing({ parentId: last.parentId })
    if (files.length === 0) {
      if (!isStored) takeLast()
      else if (last.parts) take(last.parts)
    }
    return lastMessage()
  }
  return { lastMessage, recall }
}

const placeholderOf = ({ name }: Agent, waiting: number, isIdle: boolean): string =>
  isIdle ? (rejecting(waiting)?.placeholder ?? `Message ${name}`) : `Message ${name}: sent after this reply`

const sendLabelOf = (waiting: number, isIdle: boolean): string =>
  isIdle ? (rejecting(waiting)?.sendLabel ?? 'Send') : 'Queue'

function Dropping({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const isOver = useFileDrop(onFiles)
  return isOver && <div className={classes.dropping}>Drop the files to attach them</div>
}

const Keys = ({ isIdle, stopsNext }: { isIdle: boolean; stopsNext: boolean }) => (
  <Text
    component="div"
    className={classes.keys}
    role={stopsNext ? 'status' : undefined}
    data-warns={stopsNext || undefined}
  >
    {stopsNext ? (
      <>
        Press <kbd>Esc</kbd> again to stop the reply
      </>
    ) : isIdle ? (
      <>
        <kbd>Enter</kbd> sends · <kbd>Shift Enter</kbd> new line · <kbd>↑</kbd> edits the last
      </>
    ) : (
      <>
        <kbd>Enter</kbd> queues · <kbd>Ctrl Enter</kbd> sends now, ends this reply early · <kbd>Shift Enter</kbd> new
        line · <kbd>Esc</kbd> twice stops
      </>
    )}
  </Text>
)

const noMessages: Conversation = { path: [], ids: [] }

function useOpening(agent: Agent, open: (text: string) => void, field: Field): ReactNode {
  const pick = useCallbackRef((text: string) => {
    open(text)
    focusOn(field) // what was clicked goes
    keepFocus()
  })
  return useMemo(() => <Opening agent={agent} onPick={pick} />, [agent, pick])
}
