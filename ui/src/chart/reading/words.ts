/** States and events as people read them; the machine's own names are in tooltips. Pure. */
import { isActive } from '../machine.ts'
import type { Chart } from '../queries.ts'
import type { Step } from '../step.ts'

const states: Readonly<Record<string, string>> = {
  idle: 'New',
  streaming: 'Running',
  'streaming.generating': 'Writing',
  'streaming.compacting': 'Summarising',
  'streaming.settling': 'Saving',
  complete: 'Complete',
  waiting: 'Waiting for approval',
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
  compact: 'older messages are summarised',
  compacted: 'the summary is done',
  settled: 'it is stored',
}

export const eventName = (event: string): string => events[event] ?? event

/** Events that a reader does not wait for. */
export const rare: ReadonlySet<string> = new Set(['lost', 'deleted', 'adopted', 'unstorable'])

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
  event: string
  /** Ids of the states that it leads to, more than one where the outcome decides. */
  targets: string[]
}

/** Returns what may happen to a session in this state, each event once. */
export function waysFrom({ transitions }: Chart, current: string): Way[] {
  const ways = new Map<string, string[]>()
  for (const { source, target, event } of transitions) {
    if (!isActive(source, current)) continue
    const targets = ways.get(event) ?? []
    const inner = target === 'streaming' ? 'streaming.generating' : target
    if (!targets.includes(inner)) targets.push(inner)
    ways.set(event, targets)
  }
  return [...ways].map(([event, targets]) => ({ event, targets }))
}

/** Returns why the reply ended, from its steps: `provider_error after 2 calls`. Null while it runs. */
export function endOf(steps: readonly Step[]): { event: string; code: string | null } | null {
  const last = steps.findLast(({ kind }) => kind === 'transition')
  if (last === undefined || last.to.startsWith('streaming')) return null
  const cause = steps.findLast(({ to, kind }) => kind === 'transition' && to === 'streaming.settling')
  const code = last.detail.code ?? cause?.detail.code
  return { event: cause?.event ?? last.event, code: typeof code === 'string' ? code : null }
}
