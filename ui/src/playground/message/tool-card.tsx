/** A tool call: collapsed, one line with its name and outcome; expanded, its arguments and its result. */
import { Loader, Text } from '@mantine/core'
import { IconCheck, IconChevronRight, IconHandStop, IconQuestionMark, IconX } from '@tabler/icons-react'
import { memo, Suspense, type ToggleEvent, use, useState } from 'react'
import { Link } from 'react-router'
import { ToolName } from '../../agents/tool-name.tsx'
import { Copy } from '../../blocks/copy.tsx'
import { indented } from '../../blocks/words.ts'
import { NestedCalls } from '../nested/nested-calls.ts'
import type { ToolCall } from '../queries.ts'
import { decisionParam } from '../remembered/queries.ts'
import classes from './message.module.css'

/** More is not rendered: a result may have 256 KiB. It is copied whole. */
const mostShown = 20_000

interface ToolCardProps {
  call: ToolCall
  running: boolean
  /** The reply has ended to wait: for its own calls, or for the agents that it asked. */
  isWaiting: boolean
  /** The key in `unfolded` while it is expanded, whether it is rendered or not. */
  id: string
  unfolded: Set<string>
  /** A message of the user's follows, which rejects what waits. */
  isFollowedByMessage: boolean
}

export const ToolCard = memo(({ call, running, isWaiting, id, unfolded, isFollowedByMessage }: ToolCardProps) => {
  const [isOpen, setOpen] = useState(() => unfolded.has(id))
  const onToggle = ({ currentTarget: { open } }: ToggleEvent<HTMLDetailsElement>) => {
    setOpen(open)
    if (open) unfolded.add(id)
    else unfolded.delete(id)
  }
  const { name, durationMs } = call
  const NestedSession = use(NestedCalls)
  const state = stateOf(call, running, isWaiting)
  const rejection = rejectionWords(call, isFollowedByMessage)
  return (
    <>
      <details className={classes.tool} data-state={state} open={isOpen} onToggle={onToggle}>
        <summary>
          <IconChevronRight size={15} stroke={1.8} className={classes.toolFold} aria-hidden />
          <StateIcon state={state} />
          <span className={classes.toolName}>
            <ToolName seen={name} />
          </span>
          <span className={classes.toolHint}>{compact(call.arguments)}</span>
          <span className={classes.toolTime}>{durationMs === null ? state : `${state} · ${duration(durationMs)}`}</span>
        </summary>
        {isOpen && <Parts call={call} running={running} state={state} />}
      </details>
      {rejection !== null && <Text className={classes.toolWait}>{rejection}</Text>}
      {call.decisionId !== undefined && <ByDecision call={call} id={call.decisionId} />}
      {NestedSession && call.child && wasMade.has(state) && (
        <Suspense>
          <NestedSession place={call.child} isAnswered={call.content !== null} id={`${id} child`} unfolded={unfolded} />
        </Suspense>
      )}
    </>
  )
})

/** The state of a call whose agent waits for a decision. */
const waitsBelow = 'waiting for a decision below'

/** The states of calls that were made. */
const wasMade = new Set(['running', waitsBelow, 'done', 'failed', 'outcome unknown'])

/** Says that a remembered decision settled the call, and links to it. */
const ByDecision = ({ call: { decision, decidedBy }, id }: { call: ToolCall; id: string }) => (
  <Text className={classes.toolWait}>
    {decision === 'reject' ? 'Rejected' : 'Approved'} by{' '}
    <Link to={{ search: `?${decisionParam}=${id}` }} replace>
      an earlier decision
    </Link>
    {decidedBy == null ? '' : ` of ${decidedBy}`}.
  </Text>
)

/** Says why or by whom the call was rejected. Null when that is not known. */
function rejectionWords({ decision, decidedBy, decisionId }: ToolCall, isFollowedByMessage: boolean): string | null {
  if (decisionId !== undefined) return null
  if (decision === 'expired') return 'Nobody decided in time.'
  if (decision !== 'reject') return null
  if (isFollowedByMessage) return 'Rejected because a new message was sent instead of a decision.'
  return decidedBy == null ? null : `Rejected by ${decidedBy}.`
}

/** Returns the state of a call. `decision`: the decision on a call that was pending. */
function stateOf({ ok, decision, child }: ToolCall, running: boolean, isWaiting: boolean): string {
  if (decision === null) return 'waiting for an answer'
  if (decision === 'reject') return 'rejected'
  if (decision === 'expired') return 'expired'
  if (decision === 'respond') return 'answered'
  if (ok === null && child && isWaiting) return waitsBelow
  return ok === null ? (running ? 'running' : 'outcome unknown') : ok ? 'done' : 'failed'
}

function Parts({ call, running, state }: Pick<ToolCardProps, 'call' | 'running'> & { state: string }) {
  return (
    <>
      <Part name="Arguments" text={indented(call.arguments)} />
      {call.content !== null && <Part name="Result" text={indented(call.content)} />}
      {call.content === null && (
        <Text className={classes.toolWait}>
          {running
            ? 'Waiting for its result…'
            : call.decision === null
              ? 'It waits for an approval, or for the result from the program whose tool it is.'
              : state === waitsBelow
                ? 'The agent waits for a decision.'
                : 'The reply ended before a result was stored. The call may have taken effect.'}
        </Text>
      )}
    </>
  )
}

function StateIcon({ state }: { state: string }) {
  if (state === 'running') return <Loader size={14} aria-hidden />
  if (state === 'done') return <IconCheck size={16} stroke={2.2} className={classes.toolOk} aria-hidden />
  if (state === 'answered') return <IconCheck size={16} stroke={2.2} className={classes.toolOk} aria-hidden />
  if (state === 'waiting for an answer' || state === waitsBelow)
    return <IconHandStop size={16} stroke={2} aria-hidden />
  if (state === 'outcome unknown')
    return <IconQuestionMark size={16} stroke={2.2} className={classes.toolBad} aria-hidden />
  return <IconX size={16} stroke={2.2} className={classes.toolBad} aria-hidden />
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <section className={classes.toolPart} aria-label={name}>
      <div className={classes.toolPartName}>
        {name}
        <Copy text={text} label={`Copy ${name.toLowerCase()}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre tabIndex={0}>{text.length > mostShown ? `${text.slice(0, mostShown)}\n…` : text}</pre>
    </section>
  )
}

const compact = (text: string): string => text.slice(0, 160).replaceAll(/\s+/g, ' ')

export const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
