/** States and events as people read them; the machine's own names are in tooltips. Pure. */
import { isActive } from '../machine.ts'
import type { Chart, Step } from '../step.ts'

const states: Readonly<Record<string, string>> = {
  idle: 'New',
  streaming: 'Running',
  'streaming.generating': 'Writing',
  'streaming.compacting': 'Summarising',
  'streaming.settling': 'Saving',
  complete: 'Complete',
  waiting: 'Waiting for an answer',
  error: 'Failed',
  cancelled: 'Stopped',
  deleted: 'Deleted',
}

export const stateName = (id: string): string => states[id] ?? id

const events: Readonly<Record<string, string>> = {
  message: 'a message arrives',
  next: 'a queued message begins',
  decided: 'somebody answers',
  adopted: 'another server takes it over',
  finished: 'the model ends',
  steered: 'a message ends it early',
  failed: 'it fails',
  cancel: 'somebody stops it',
  unstorable: 'nothing can be stored',
  lost: 'its server is lost',
  deleted: 'the session is deleted',
  compact: 'older messages must be summarised',
  compacted: 'the summary is done',
  settled: 'it is stored',
}

const eventName = (event: string): string => events[event] ?? event

/** Events that a reader does not wait for. */
const rare: ReadonlySet<string> = new Set(['lost', 'deleted', 'adopted', 'unstorable'])

const happened: Readonly<Record<string, string>> = {
  message: 'message',
  next: 'queued message',
  decided: 'answered',
  adopted: 'taken over',
  finished: 'model ended',
  steered: 'ended early',
  failed: 'failed',
  cancel: 'stopped',
  unstorable: 'not stored',
  lost: 'server lost',
  deleted: 'deleted',
  compact: 'summarising',
  compacted: 'summarised',
  settled: 'saved',
}

/** Returns the name of an event that has happened. */
export const pastName = (event: string): string => happened[event] ?? event

export interface Way {
  /** Ids of the states that it leads to, more than one where the outcome decides. */
  targets: string[]
  /** The events that lead there: `when the model ends, it fails or somebody stops it`. */
  when: string
}

/** Returns where a session in this state may go next, but for what hardly ever happens. */
export function nextOf({ transitions }: Pick<Chart, 'transitions'>, current: string): Way[] {
  const targetsOf = new Map<string, Set<string>>()
  for (const { source, target, event } of transitions) {
    if (!isActive(source, current) || rare.has(event)) continue
    targetsOf.set(event, (targetsOf.get(event) ?? new Set()).add(target === 'streaming' ? writing : target))
  }
  const ways = new Map<string, { targets: string[]; events: string[] }>()
  for (const [event, targets] of targetsOf) {
    const way = ways.get([...targets].join()) ?? { targets: [...targets], events: [] }
    way.events.push(eventName(event))
    ways.set([...targets].join(), way)
  }
  return [...ways.values()].map(({ targets, events }) => ({ targets, when: `when ${orJoined(events)}` }))
}

const writing = 'streaming.generating'

const orJoined = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

export interface End {
  event: string
  code: string | null
  finishReason: string | null
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns how the reply ended, from its steps. Null while it runs. */
export function endOf(steps: readonly Step[]): End | null {
  const last = steps.findLast(({ kind }) => kind === 'transition')
  if (last === undefined || last.to.startsWith('streaming')) return null
  const cause = steps.findLast(({ to, kind }) => kind === 'transition' && to === 'streaming.settling')
  return {
    event: cause?.event ?? last.event,
    code: textIn(last.detail.code) ?? textIn(cause?.detail.code),
    finishReason: textIn(cause?.detail.finishReason),
  }
}
