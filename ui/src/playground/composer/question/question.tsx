/** The calls that the session waits for, each with its arguments, to approve, edit, reject or answer. */
import { Button, Group, NativeSelect, Text, Title } from '@mantine/core'
import { IconCheck, IconHandStop, IconPencil, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { ToolName } from '../../../agents/tool-name.tsx'
import { usePageKeys } from '../../../blocks/pages/page-keys.ts'
import { indented } from '../../../blocks/words.ts'
import type { Decision, PendingCall } from '../../queries.ts'
import classes from './question.module.css'
import { ServerQuestion } from './server-question.tsx'
import { SignIn } from './sign-in.tsx'
import { Answering, type Choice, Editing, Rejecting } from './steps.tsx'

interface QuestionProps {
  pending: readonly PendingCall[]
  /** Called once all are decided. */
  onDecide: (decisions: Decision[]) => void
  /** Whether the session has a user, for whom a decision can be remembered. */
  hasUser?: boolean
  /** A, E and R do what the buttons of the first undecided call do. */
  hasKeys?: boolean
  /** "column 1": where several ask on one page. */
  of?: string
}

/** Decisions are made about exactly these calls: where others are pending, none of them is decided. */
export const Question = (props: QuestionProps) => <Undecided key={props.pending.map(idOf).join(' ')} {...props} />

/** Returns the id of what is decided: a call may ask several questions, each decided for itself. */
const idOf = ({ call_id, key }: { call_id: string; key?: string | null | undefined }): string =>
  key == null ? call_id : `${call_id} ${key}`

function Undecided({ pending, onDecide, hasUser = false, hasKeys = false, of }: QuestionProps) {
  const [decided, setDecided] = useState<ReadonlyMap<string, Decision>>(new Map())
  const decide = (...decisions: Decision[]) => {
    const all = new Map(decided)
    for (const decision of decisions) all.set(idOf(decision), decision)
    setDecided(all)
    if (all.size === pending.length) onDecide([...all.values()])
  }
  const undo = (undone: string) => setDecided(new Map([...decided].filter(([id]) => id !== undone)))
  const undecided = pending.filter((call) => !decided.has(idOf(call)))
  const [first] = undecided
  const left = undecided.length
  const approveAll = () => decide(...undecided.map(({ call_id }) => ({ call_id, decision: 'approve' as const })))
  return (
    <section className={classes.question} aria-label={`Waiting for a decision${of ? `, ${of}` : ''}`}>
      <Group gap="xs" wrap="nowrap">
        <IconHandStop size={18} stroke={1.8} aria-hidden />
        <Title order={2} size="h5">
          {pending.length === 1 ? 'This call needs a decision' : `${pending.length} calls need a decision`}
        </Title>
        {decided.size > 0 && left > 0 && (
          <Text fz="sm" c="dimmed">
            {left} left
          </Text>
        )}
        {left > 1 && undecided.every(({ kind }) => kind === 'approval') && (
          <Button size="compact-sm" variant="default" ml="auto" onClick={approveAll}>
            Approve all {left}
          </Button>
        )}
      </Group>
      {pending.map((call) => (
        <CallQuestion
          key={idOf(call)}
          call={call}
          decided={decided.get(idOf(call)) ?? null}
          hasUser={hasUser}
          hasKeys={hasKeys && call === first}
          onDecide={decide}
          onUndo={left > 0 ? () => undo(idOf(call)) : null}
        />
      ))}
    </section>
  )
}

interface CallQuestionProps {
  call: PendingCall
  decided: Decision | null
  hasUser: boolean
  hasKeys: boolean
  onDecide: (decision: Decision) => void
  /** Null once the decisions are on their way. */
  onUndo: (() => void) | null
}

const words = {
  approve: 'Approved',
  reject: 'Rejected',
  respond: 'Answered',
  answer: 'Answered',
  decline: 'Declined',
  cancel: 'Cancelled',
} as const

function CallQuestion({ call, decided, hasUser, hasKeys, onDecide, onUndo }: CallQuestionProps) {
  const { call_id, name, kind } = call
  return (
    <article className={classes.call} aria-label={name}>
      <Text className={classes.name}>
        <ToolName seen={name} />
      </Text>
      {decided === null ? (
        <Asked
          call={call}
          hasUser={hasUser}
          hasKeys={hasKeys}
          onDecide={(decision) => onDecide({ ...decision, call_id })}
        />
      ) : (
        <Group gap="sm">
          <Text fz="sm">{words[decided.decision]}</Text>
          {onUndo && (
            <Button size="compact-sm" variant="subtle" onClick={onUndo}>
              Change
            </Button>
          )}
        </Group>
      )}
      {kind === 'caller' && (
        <Text fz="xs" c="dimmed">
          A tool of the calling program, which usually answers by itself.
        </Text>
      )}
    </article>
  )
}

type Mode = 'asked' | 'editing' | 'rejecting'

/** A question that has been shown for less has been read by nobody: a key so soon was meant for the one before it. */
const UNREAD_MS = 600

interface ChoicesProps {
  call: PendingCall
  hasUser: boolean
  hasKeys: boolean
  onDecide: (choice: Choice) => void
}

function Asked(props: ChoicesProps) {
  if (props.call.kind === 'sign_in') return <SignIn {...props} />
  return props.call.kind === 'input' ? <ServerQuestion {...props} /> : <Choices {...props} />
}

/** For how long a decision is remembered; empty: it is not. */
const reaches = [
  { value: '', label: 'this call only' },
  { value: 'session', label: 'this session' },
  { value: 'user', label: 'this user' },
] as const
type Reach = (typeof reaches)[number]['value']

function Choices({ call, hasUser, hasKeys, onDecide: decide }: ChoicesProps) {
  const [reach, setReach] = useState<Reach>('')
  const onDecide = (choice: Choice) =>
    decide(reach !== '' && choice.arguments == null ? { ...choice, remember: reach } : choice)
  const [mode, setMode] = useState<Mode>(call.kind === 'caller' ? 'editing' : 'asked')
  const back = () => setMode('asked')
  const isAsked = hasKeys && mode === 'asked'
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  useEffect(() => {
    shownAt.current = performance.now()
  }, [])
  // A key that is held down would decide about the next call too, which takes this one's place.
  const isMeant = ({ repeat, timeStamp }: KeyboardEvent) => !repeat && timeStamp >= shownAt.current + UNREAD_MS
  usePageKeys(
    isAsked
      ? [
          ['a', (event) => isMeant(event) && onDecide({ decision: 'approve' })],
          ['e', (event) => isMeant(event) && setMode('editing')],
          ['r', (event) => isMeant(event) && setMode('rejecting')],
        ]
      : [],
  )
  if (mode === 'rejecting') return <Rejecting onDecide={onDecide} onBack={back} />
  if (call.kind === 'caller') return <Answering onDecide={onDecide} onReject={() => setMode('rejecting')} />
  if (mode === 'editing') return <Editing call={call} onDecide={onDecide} onBack={back} />
  const buttons = [
    ['Approve', IconCheck, () => onDecide({ decision: 'approve' })],
    ['Edit', IconPencil, () => setMode('editing')],
    ['Reject', IconX, () => setMode('rejecting')],
  ] as const
  return (
    <>
      <Arguments text={call.arguments} />
      <NativeSelect
        size="xs"
        maw={220}
        label="Decide for"
        data={reaches.filter(({ value }) => hasUser || value !== 'user')}
        value={reach}
        onChange={({ currentTarget }) =>
          setReach(reaches.find(({ value }) => value === currentTarget.value)?.value ?? '')
        }
      />
      <Group gap="sm">
        {buttons.map(([words, Icon, onClick], place) => (
          <Button
            key={words}
            size="sm"
            variant={place === 0 ? 'filled' : 'default'}
            leftSection={<Icon size={16} aria-hidden />}
            onClick={onClick}
          >
            {words}
          </Button>
        ))}
      </Group>
    </>
  )
}

function Arguments({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre className={classes.arguments} tabIndex={0}>
      {indented(text)}
    </pre>
  )
}
