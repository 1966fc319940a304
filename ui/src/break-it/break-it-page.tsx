/** `/break-it`: the demo, broken by those who do not believe it, and what this page has seen compared with what is stored. */
import { Button, Code, Loader, Text } from '@mantine/core'
import { IconBolt, IconCloudOff, IconDoor, IconPlayerPause, IconPlugConnectedX } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useSelector } from '@xstate/store-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Card } from '../blocks/card.tsx'
import { Copy } from '../blocks/copy.tsx'
import { EmptyState } from '../blocks/messages/empty-state.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { wholeNumber } from '../blocks/words.ts'
import { clockTime } from '../chart/words.ts'
import classes from './break-it.module.css'
import type { Counts } from './checker.ts'
import { type Break, breakNow, breakStatus } from './queries.ts'
import { createWatchStore, type Line, type WatchStore, watch } from './watch.ts'

export function Component() {
  const { data, isPending } = useQuery(breakStatus)
  if (isPending) return <Loader role="img" aria-label="Loading" m="xl" />
  return data ? <BreakIt command={data.command} /> : <NotHere />
}

const NotHere = () => (
  <Page title="Break it">
    <EmptyState icon={IconDoor} title="Nothing to break here" leadTo={{ path: '/', label: 'Go to the home page' }}>
      This page is for the demo on your own machine: with its own database, without a login, without a proxy.
    </EmptyState>
  </Page>
)

function BreakIt({ command }: { command: string }) {
  const [store] = useState(createWatchStore)
  const { isRunning, start, stop } = useWatch(store)
  const line = useSelector(store, ({ context }) => context.line)
  return (
    <Page
      title="Break it"
      description="The demo agent talks. Break what it runs on: this page compares every word that it has shown with what is stored."
      actions={
        isRunning ? (
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button onClick={start}>Start</Button>
        )
      }
    >
      <div className={classes.layout}>
        <div className={classes.stack}>
          <Buttons store={store} command={command} line={line} />
          <Talk store={store} line={line} />
        </div>
        <div className={classes.stack}>
          <Checker store={store} />
          <Events store={store} />
        </div>
      </div>
    </Page>
  )
}

function useWatch(store: WatchStore) {
  const [isRunning, setRunning] = useState(false)
  useEffect(() => {
    if (!isRunning) return
    const leaving = new AbortController()
    void watch(store, leaving.signal)
    return () => leaving.abort()
  }, [isRunning, store])
  return { isRunning, start: () => setRunning(true), stop: () => setRunning(false) }
}

const buttons: { what: Break; label: string; done: string; icon: typeof IconBolt }[] = [
  { what: 'kill', label: 'Kill this process', done: 'kill -9', icon: IconBolt },
  {
    what: 'pause-database',
    label: 'Pause the database for 5 s',
    done: 'Database paused for 5 s',
    icon: IconPlayerPause,
  },
  { what: 'cut-provider', label: 'Cut the provider', done: 'The provider was cut off', icon: IconCloudOff },
  {
    what: 'drop-connection',
    label: 'Drop my connection',
    done: 'The server dropped the connection',
    icon: IconPlugConnectedX,
  },
]

function Buttons({ store, command, line }: { store: WatchStore; command: string; line: Line }) {
  const [isKilled, setKilled] = useState(false)
  const breaking = useMutation({
    mutationFn: breakNow,
    onSuccess(_, what) {
      if (what === 'kill') setKilled(true)
      const words = buttons.find((one) => one.what === what)?.done ?? what
      store.trigger.happened({ words, at: new Date().toISOString() })
    },
  })
  const wasBroken = useRef(false)
  useEffect(() => {
    if (line === 'open' && wasBroken.current) setKilled(false)
    wasBroken.current = line === 'broken'
  }, [line])
  return (
    <Part title="Break">
      <div className={classes.buttons}>
        {buttons.map(({ what, label, icon: Icon }) => (
          <Button
            key={what}
            variant="default"
            justify="flex-start"
            disabled={isKilled || line === 'off'}
            leftSection={<Icon size={17} stroke={1.7} aria-hidden />}
            onClick={() => breaking.mutate(what)}
          >
            {label}
          </Button>
        ))}
      </div>
      <div className={classes.notice} role="status">
        {isKilled && (
          <>
            <Text fz="sm">The process is dead. Type this where it ran; the page waits, and goes on counting:</Text>
            <div className={classes.command}>
              <Code fz="sm">{command}</Code>
              <Copy text={command} label="Copy the command" />
            </div>
          </>
        )}
      </div>
      <ErrorAlert error={breaking.error} />
    </Part>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card title={title}>
    <div className={classes.part}>{children}</div>
  </Card>
)

const lineWords: Record<Line, string> = {
  off: 'Press Start: the demo agent counts to 800, again and again.',
  open: 'Connected',
  broken: 'The connection is broken. Trying again…',
}

function Talk({ store, line }: { store: WatchStore; line: Line }) {
  const text = useSelector(store, ({ context }) => context.text)
  return (
    <Part title="Shown">
      <div className={classes.line} data-line={line} role="status">
        {lineWords[line]}
      </div>
      <p className={classes.talk} data-testid="talk">
        {text}
      </p>
    </Part>
  )
}

const figures: { key: keyof Counts; label: string; about: string; isBad: boolean }[] = [
  { key: 'shown', label: 'Shown', about: 'frames that this page has received', isBad: false },
  { key: 'stored', label: 'Stored', about: 'read back, word for word', isBad: false },
  { key: 'lost', label: 'Lost', about: 'shown, and not there afterwards', isBad: true },
  { key: 'contradicted', label: 'Contradicted', about: 'stored text differs', isBad: true },
  { key: 'doubled', label: 'Doubled', about: 'shown a second time', isBad: true },
]

/**
 * Describes the words that were read back. Those shown within the last second are not due yet, and do not count as
 * missing.
 */
function storedWords({ shown, stored, lost, contradicted }: Counts, about: string): string {
  const due = shown - stored - lost - contradicted
  return due > 0 ? `${about}; ${wholeNumber(due)} to be read within a second` : about
}

function Checker({ store }: { store: WatchStore }) {
  const counts = useSelector(store, ({ context }) => context.counts)
  return (
    <Part title="Checker">
      <dl className={classes.figures}>
        {figures.map(({ key, label, about, isBad }) => (
          <div key={key} data-bad={(isBad && counts[key] > 0) || undefined}>
            <dt>{label}</dt>
            <dd data-testid={key}>{wholeNumber(counts[key])}</dd>
            <dd className={classes.about}>{key === 'stored' ? storedWords(counts, about) : about}</dd>
          </div>
        ))}
      </dl>
      <Text fz="xs" c="dimmed" className={classes.foot ?? ''}>
        Only what this page itself has seen counts. It reads the stored reply every second, and everything after each
        break.
      </Text>
    </Part>
  )
}

/** The most that fit beside the rest. */
const shownEvents = 12

function Events({ store }: { store: WatchStore }) {
  const events = useSelector(store, ({ context }) => context.events)
  return (
    <Part title="What happened">
      {events.length === 0 && (
        <Text fz="sm" c="dimmed">
          Nothing yet.
        </Text>
      )}
      <ol className={classes.events}>
        {events.slice(0, shownEvents).map(({ id, at, words }) => (
          <li key={id}>
            <time dateTime={at}>{clockTime(at)}</time> {words}
          </li>
        ))}
      </ol>
    </Part>
  )
}
