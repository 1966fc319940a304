/**
 * The session's state machine: it decides, others do. Nothing here touches the world; what is invoked is handed in by
 * `session-actors.ts` and answers with the named events below, so that this table is the whole truth and the chart
 * that people see is this object.
 *
 * Tokens never pass through here: an event through the mailbox costs 1.7 to 3.8 µs, an append to the reply's log
 * 0.05 µs. Admission is not decided here either: the journal's insert is, and only an admitted message arrives.
 */
import { assertEvent, assign, fromCallback, setup } from 'xstate'
import type { ReplyInfo, RestState } from './ports.ts'
import type { FinishReason, ReplyError } from './reply-event.ts'

/** How generating ended, before it is stored. */
export type Ending = { type: 'finished'; reason: FinishReason } | { type: 'failed'; error: ReplyError }

export type SessionEvent =
  | { type: 'message'; reply: ReplyInfo }
  | { type: 'finished'; reason: FinishReason }
  | { type: 'failed'; error: ReplyError }
  | { type: 'cancel' }
  /** `as`: what the stored outcome is; a reply that could not be stored whole has failed, however it ended. */
  | { type: 'settled'; as: Exclude<RestState, 'idle'> }
  | { type: 'lost' }

export interface SessionContext {
  reply: ReplyInfo | null
  ending: Ending | null
}

/** What runs while a state is active. Both get the reply they are for and send back events of this machine. */
export type GenerateInput = { reply: ReplyInfo | null }
export type SettleInput = { reply: ReplyInfo | null; ending: Ending | null }

const unprovided = () => {
  throw new Error('The session machine runs only with its actors provided (session-actors.ts).')
}

const message = {
  target: 'streaming',
  description: 'An admitted message: its reply is stored as streaming, generation begins.',
  actions: 'beginReply',
} as const

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
  },
  actors: {
    generate: fromCallback<SessionEvent, GenerateInput, SessionEvent>(unprovided),
    settle: fromCallback<SessionEvent, SettleInput, SessionEvent>(unprovided),
  },
  actions: {
    beginReply: assign(({ event }) => {
      assertEvent(event, 'message')
      return { reply: event.reply, ending: null }
    }),
    keepFinish: assign(({ event }) => {
      assertEvent(event, 'finished')
      return { ending: { type: 'finished', reason: event.reason } as const }
    }),
    keepFailure: assign(({ event }) => {
      assertEvent(event, 'failed')
      return { ending: { type: 'failed', error: event.error } as const }
    }),
    keepCancel: assign({ ending: { type: 'finished', reason: 'cancelled' } as const }),
  },
  guards: {
    hasFailed: ({ event }) => event.type === 'settled' && event.as === 'error',
    wasCancelled: ({ event }) => event.type === 'settled' && event.as === 'cancelled',
  },
}).createMachine({
  id: 'session',
  context: { reply: null, ending: null },
  initial: 'idle',
  states: {
    idle: {
      description: 'No reply yet.',
      on: { message },
    },
    streaming: {
      description: 'A reply runs: it is generated, stored and shown.',
      initial: 'generating',
      on: {
        lost: {
          target: 'error',
          description: 'This instance was declared lost, or the reply was ended by others: nothing more is written.',
        },
      },
      states: {
        generating: {
          description: 'The model speaks, tools run; every event is stored before it is shown.',
          invoke: { src: 'generate', input: ({ context }): GenerateInput => ({ reply: context.reply }) },
          on: {
            finished: {
              target: 'settling',
              description: 'The model has said all it had to say.',
              actions: 'keepFinish',
            },
            failed: {
              target: 'settling',
              description: 'Provider, time-out, shutdown or storage ended the reply.',
              actions: 'keepFailure',
            },
            cancel: {
              target: 'settling',
              description: 'Somebody asked to stop: what was produced stays.',
              actions: 'keepCancel',
            },
          },
        },
        settling: {
          description: 'The outcome is stored, then announced.',
          invoke: {
            src: 'settle',
            input: ({ context }): SettleInput => ({ reply: context.reply, ending: context.ending }),
          },
          on: {
            settled: [
              { guard: 'hasFailed', target: '#session.error', description: 'Stored as failed, with what it had.' },
              { guard: 'wasCancelled', target: '#session.cancelled', description: 'Stored as cancelled.' },
              { target: '#session.complete', description: 'Stored as complete.' },
            ],
          },
        },
      },
    },
    complete: { description: 'The newest reply is whole.', on: { message } },
    error: { description: 'The newest reply failed; it keeps what it had.', on: { message } },
    cancelled: { description: 'The newest reply was cancelled; it keeps what it had.', on: { message } },
  },
})

/** Where a session is that was forgotten and is found again: the stored rows tell, never a stored snapshot. */
export const restingAt = (state: RestState) =>
  sessionMachine.resolveState({ value: state, context: { reply: null, ending: null } })

/** `{streaming: 'generating'}` → `streaming.generating`, the id of the innermost state. */
export function pathOf(value: string | Record<string, unknown>): string {
  if (typeof value === 'string') return value
  return Object.entries(value)
    .map(([parent, child]) => (typeof child === 'string' ? `${parent}.${child}` : parent))
    .join()
}
