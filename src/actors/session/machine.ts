/**
 * The session's state machine. It makes the decisions and has no side effects: its actors, and the actions that end a
 * reply's log, are provided by `actors.ts`. The actors answer with named events (session-event.ts), so that this table
 * is complete, and the chart in the UI is this object. Stately's tools read this file, and follow no names: it repeats itself.
 *
 * Tokens never pass through here: an event through the mailbox costs 1.7 to 3.8 µs, an append to the reply's log
 * 0.05 µs. Admission is not decided here either: the journal's insert decides, and only an admitted message arrives.
 */
import { assertEvent, assign, fromCallback, setup } from 'xstate'
import { restStateOf } from '../reply/reply-event.ts'
import { endingIn, replyIn, type SessionContext } from './running-reply.ts'
import type { CompactInput, GenerateInput, InitialState, SessionEvent, SettleInput } from './session-event.ts'

const unprovided = () => {
  throw new Error('The session machine runs only with its actors and actions provided (actors.ts).')
}

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    tags: {} as 'running',
  },
  actors: {
    generate: fromCallback<SessionEvent, GenerateInput, SessionEvent>(unprovided),
    compact: fromCallback<SessionEvent, CompactInput, SessionEvent>(unprovided),
    settle: fromCallback<SessionEvent, SettleInput, SessionEvent>(unprovided),
  },
  actions: {
    beginReply: assign(({ event }) => {
      assertEvent(event, ['message', 'next', 'decided', 'adopted'])
      return { reply: event.reply, ending: null, rest: null }
    }),
    beginCompaction: assign(({ event }) => {
      assertEvent(event, 'compact')
      return { reply: null, ending: null, rest: event.rest }
    }),
    keepFinish: assign(({ event }) => {
      assertEvent(event, 'finished')
      return { ending: event }
    }),
    keepSteered: assign({ ending: { type: 'finished', reason: 'steered' } as const }),
    keepFailure: assign(({ event }) => {
      assertEvent(event, ['failed', 'unstorable'])
      return { ending: { type: 'failed', error: event.error } as const }
    }),
    keepCancel: assign({ ending: { type: 'finished', reason: 'cancelled' } as const }),
    /** XState keeps an actor longer than its reply (bench/profiles): the reply must not be kept with it. */
    letGo: assign({ reply: null, ending: null }),
    /** The actions that end the log of a reply that runs here; nothing else does. */
    closeLog: unprovided,
    cutLog: unprovided,
    dropLog: unprovided,
    /** The only place where a queued message begins. */
    beginNext: unprovided,
  },
  guards: {
    isForReply: ({ context }) => context.reply !== null,
    restedIdle: ({ context }) => context.rest === 'idle',
    restedFailed: ({ context }) => context.rest === 'error',
    restedCancelled: ({ context }) => context.rest === 'cancelled',
    hasFailed: ({ event }) => event.type === 'settled' && restStateOf(event.ended.outcome) === 'error',
    waits: ({ event }) => event.type === 'settled' && restStateOf(event.ended.outcome) === 'waiting',
    wasCancelled: ({ event }) => event.type === 'settled' && restStateOf(event.ended.outcome) === 'cancelled',
  },
}).createMachine({
  id: 'session',
  context: { reply: null, ending: null, rest: null },
  initial: 'idle',
  states: {
    idle: {
      description: 'No reply yet.',
      on: {
        message: {
          target: 'streaming',
          description: 'An admitted message: its reply is stored as streaming, generation begins.',
          actions: 'beginReply',
        },
        compact: {
          target: '#session.streaming.compacting',
          description: 'Somebody asked for a summary: no message waits for it.',
          actions: 'beginCompaction',
        },
        next: { target: 'streaming', description: 'A queued message begins with what ended.', actions: 'beginReply' },
      },
    },
    streaming: {
      description: 'A reply runs: it is generated, stored and shown.',
      tags: 'running',
      initial: 'generating',
      on: {
        lost: {
          target: 'error',
          description: 'This instance was declared lost, or the reply was ended by others: nothing more is written.',
          actions: ['cutLog', 'letGo'],
        },
        deleted: {
          target: 'deleted',
          description: 'The session was deleted: readers get one last error chunk, nothing more is stored.',
          actions: ['dropLog', 'letGo'],
        },
      },
      states: {
        generating: {
          description: 'The model speaks, tools run; every event is stored before it is shown.',
          invoke: { src: 'generate', input: ({ context }): GenerateInput => ({ reply: replyIn(context) }) },
          on: {
            adopted: {
              target: 'generating',
              reenter: true,
              description: 'The instance that ran it is gone or stops: this one has taken the reply over and goes on.',
              actions: 'beginReply',
            },
            finished: {
              target: 'settling',
              description: 'The model has come to its end.',
              actions: 'keepFinish',
            },
            steered: {
              target: 'settling',
              description: 'A message that steers waits: the reply ends between two model turns, with what it has.',
              actions: 'keepSteered',
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
            unstorable: {
              target: 'settling',
              description: 'Nothing could be stored for a lease: streams break off, the model is stopped.',
              actions: ['keepFailure', 'cutLog'],
            },
            compact: {
              target: 'compacting',
              description: 'The history has grown near its budget: its older turns are summarised first.',
            },
          },
        },
        compacting: {
          description: 'The model summarises older turns, which later requests are sent in their place.',
          invoke: { src: 'compact', input: ({ context }): CompactInput => ({ reply: context.reply }) },
          on: {
            compacted: [
              {
                guard: 'isForReply',
                target: 'generating',
                description: 'The summary is stored; or there is none, and the history is cut.',
              },
              { guard: 'restedIdle', target: '#session.idle', description: 'The session rests as before.' },
              { guard: 'restedFailed', target: '#session.error', description: 'The session rests as before.' },
              { guard: 'restedCancelled', target: '#session.cancelled', description: 'The session rests as before.' },
              { target: '#session.complete', description: 'The session rests as before.' },
            ],
            // One that was asked for is stopped by its request (compact-session.ts), and is then over.
            failed: {
              guard: 'isForReply',
              target: 'settling',
              description: 'Time-out, shutdown or storage ended the reply.',
              actions: 'keepFailure',
            },
            cancel: {
              guard: 'isForReply',
              target: 'settling',
              description: 'Somebody asked to stop: no summary is kept.',
              actions: 'keepCancel',
            },
            unstorable: {
              guard: 'isForReply',
              target: 'settling',
              description: 'Nothing could be stored for a lease: streams break off, the model is stopped.',
              actions: ['keepFailure', 'cutLog'],
            },
          },
        },
        settling: {
          description: 'The outcome is stored, then announced.',
          invoke: {
            src: 'settle',
            input: ({ context }): SettleInput => ({ reply: replyIn(context), ending: endingIn(context) }),
          },
          on: {
            settled: [
              {
                guard: 'hasFailed',
                target: '#session.error',
                description: 'Stored as failed, with what it had.',
                actions: ['closeLog', 'beginNext', 'letGo'],
              },
              {
                guard: 'wasCancelled',
                target: '#session.cancelled',
                description: 'Stored as cancelled.',
                actions: ['closeLog', 'beginNext', 'letGo'],
              },
              {
                guard: 'waits',
                target: '#session.waiting',
                description:
                  'Stored with calls that wait for somebody: until then nothing runs and nothing is kept in memory.',
                actions: ['closeLog', 'beginNext', 'letGo'],
              },
              {
                target: '#session.complete',
                description: 'Stored as complete.',
                actions: ['closeLog', 'beginNext', 'letGo'],
              },
            ],
            // The settlement goes on trying: when the database is back, a resume reads the outcome.
            unstorable: { description: 'Streams break off, the outcome still waits.', actions: 'cutLog' },
          },
        },
      },
    },
    complete: {
      description: 'The newest reply is whole.',
      on: {
        message: {
          target: 'streaming',
          description: 'An admitted message: its reply is stored as streaming, generation begins.',
          actions: 'beginReply',
        },
        compact: {
          target: '#session.streaming.compacting',
          description: 'Somebody asked for a summary: no message waits for it.',
          actions: 'beginCompaction',
        },
        next: { target: 'streaming', description: 'A queued message begins with what ended.', actions: 'beginReply' },
      },
    },
    waiting: {
      description: 'Calls of the newest reply wait for somebody: an approval, or the caller whose tools they are.',
      on: {
        message: {
          target: 'streaming',
          description: 'A new message instead: what waits is rejected, the model is told.',
          actions: 'beginReply',
        },
        next: { target: 'streaming', description: 'A queued message begins with what ended.', actions: 'beginReply' },
        decided: {
          target: 'streaming',
          description: 'Somebody has decided: a new reply makes the approved calls first, then the model goes on.',
          actions: 'beginReply',
        },
      },
    },
    error: {
      description: 'The newest reply failed; it keeps what it had.',
      on: {
        message: {
          target: 'streaming',
          description: 'An admitted message: its reply is stored as streaming, generation begins.',
          actions: 'beginReply',
        },
        compact: {
          target: '#session.streaming.compacting',
          description: 'Somebody asked for a summary: no message waits for it.',
          actions: 'beginCompaction',
        },
        next: { target: 'streaming', description: 'A queued message begins with what ended.', actions: 'beginReply' },
      },
    },
    cancelled: {
      description: 'The newest reply was cancelled; it keeps what it had.',
      on: {
        message: {
          target: 'streaming',
          description: 'An admitted message: its reply is stored as streaming, generation begins.',
          actions: 'beginReply',
        },
        compact: {
          target: '#session.streaming.compacting',
          description: 'Somebody asked for a summary: no message waits for it.',
          actions: 'beginCompaction',
        },
        next: { target: 'streaming', description: 'A queued message begins with what ended.', actions: 'beginReply' },
      },
    },
    deleted: { type: 'final', description: 'The session and all that was stored of it are gone.' },
  },
})

/** Returns the initial state of a recreated actor: as the stored rows say, never from a stored snapshot. */
export const startingAt = (state: InitialState) => {
  const value = state === 'streaming.generating' ? ({ streaming: 'generating' } as const) : state
  return sessionMachine.resolveState({ value, context: { reply: null, ending: null, rest: null } })
}

/** Returns the id of the innermost state: `{streaming: 'generating'}` → `streaming.generating`. */
export function pathOf(value: string | Record<string, unknown>): string {
  if (typeof value === 'string') return value
  return Object.entries(value)
    .map(([state, below]) => (typeof below === 'string' ? `${state}.${below}` : state))
    .join()
}
