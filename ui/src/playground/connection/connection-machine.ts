/** The window's connection to the session: idle, or following a reply until it has ended. */
import { assign, fromCallback, fromPromise, setup } from 'xstate'
import type { components } from '../../../../openapi/generated/schema.ts'
import { ApiError, api, ReplyError } from '../../api.ts'
import { serverNow } from '../../shell/server-clock.ts'
import { cancelReply, type Decision, decisionProblem } from '../queries.ts'
import { gatherEvents, type Transcript } from '../transcript/transcript.ts'
import type { ShownPart } from './live-reply.ts'

export type ChatRequest = components['schemas']['PlaygroundChatRequest']

interface Connection {
  agentId: string
  /** Null until the first message of a new session is accepted. */
  sessionId: string | null
  transcript: Transcript
  /** The request; null while a reply is joined. */
  chat: ChatRequest | null
  /** Or what is decided. */
  decisions: readonly Decision[] | null
  stopAsked: boolean
  lost: boolean
  /** The reason why the last message was refused, or the reply could not be stopped. */
  problem: { error: unknown; text: string | null } | null
}

type ConnectionEvent =
  | { type: 'send'; chat: ChatRequest; parts: readonly ShownPart[] }
  | { type: 'decide'; decisions: readonly Decision[] }
  | { type: 'join'; replyId: string }
  | { type: 'stop' }
  | { type: 'dismiss' }
  | { type: 'opened'; sessionId: string | null }
  | { type: 'lost' }
  | { type: 'ended' }
  | { type: 'refused'; error: unknown }

const stream = fromCallback<ConnectionEvent, Connection>(({ input, sendBack }) => {
  const { agentId, chat, decisions, transcript } = input
  const leaving = new AbortController()
  const events = gatherEvents(transcript)
  const session = api.playground(agentId).session(input.sessionId)
  const options = {
    signal: leaving.signal,
    onConnection(state: 'open' | 'lost') {
      if (state === 'lost') return sendBack({ type: 'lost' })
      events.flush()
      sendBack({ type: 'opened', sessionId: session.id })
    },
  }
  const follow = async () => {
    const reply = decisions
      ? session.decide(decisions, options)
      : chat === null
        ? session.resume(null, 0, options)
        : sendChat(session, chat, options)
    let isOver = false
    try {
      for await (const event of reply) {
        events.add(event)
        isOver = event.type === 'finished'
      }
    } catch (error) {
      if (error instanceof ReplyError) {
        events.add({ type: 'failed', error: { code: error.code, message: error.message } })
        isOver = true
      } else if (chat !== null || decisions !== null || !isGone(error)) throw error
    }
    events.flush()
    if (!isOver) transcript.trigger.leftOff()
  }
  follow().then(
    () => sendBack({ type: 'ended' }),
    (error: unknown) => {
      if (!leaving.signal.aborted) sendBack({ type: 'refused', error })
    },
  )
  return () => leaving.abort()
})

type Session = ReturnType<ReturnType<typeof api.playground>['session']>

const sendChat = (session: Session, chat: ChatRequest, options: Parameters<Session['send']>[1]) => {
  const { message, sessionId: _, configOverrides, regenerate, messageId, parentId, ...tools } = chat
  const how = { ...tools, overrides: configOverrides ?? {}, ...options }
  if (regenerate === true) return session.regenerate(messageId, how)
  return session.send(message ?? '', parentId === undefined ? how : { ...how, parentId })
}

/** Returns the text of a request. */
function textOf({ message }: ChatRequest): string {
  if (typeof message === 'string') return message
  return message?.map(({ text = '' }) => text).join('') ?? ''
}

const timeOfServer = (): string => new Date(serverNow()).toISOString()

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

export const connectionMachine = setup({
  types: {
    context: {} as Connection,
    input: {} as Pick<Connection, 'agentId' | 'sessionId' | 'transcript'>,
    events: {} as ConnectionEvent,
  },
  actors: {
    stream,
    cancel: fromPromise<void, Connection>(({ input: { agentId, sessionId } }) =>
      sessionId === null ? Promise.resolve() : cancelReply(agentId, sessionId),
    ),
  },
  guards: {
    stopAsked: ({ context }) => context.stopAsked,
    lost: ({ context }) => context.lost,
  },
  actions: {
    reconnected: ({ context: { transcript, lost } }) => lost && transcript.trigger.reconnected(),
    notStopped: assign(({ event }) => ({ problem: { error: 'error' in event ? event.error : event, text: null } })),
  },
}).createMachine({
  id: 'connection',
  context: ({ input }) => ({ ...input, chat: null, decisions: null, stopAsked: false, lost: false, problem: null }),
  initial: 'idle',
  on: { dismiss: { actions: assign({ problem: null }) } },
  states: {
    idle: {
      on: {
        send: {
          target: 'following.sending',
          actions: [
            ({ context, event }) =>
              context.transcript.trigger.sent({
                text: event.chat.regenerate === true ? null : textOf(event.chat),
                behind: event.chat.regenerate === true ? event.chat.messageId : event.chat.parentId,
                parts: event.parts,
                now: timeOfServer(),
              }),
            assign(({ event }) => ({
              chat: event.chat,
              decisions: null,
              stopAsked: false,
              lost: false,
              problem: null,
            })),
          ],
        },
        decide: {
          target: 'following.sending',
          actions: [
            ({ context }) => context.transcript.trigger.decided({ now: timeOfServer() }),
            assign(({ event }) => ({
              chat: null,
              decisions: event.decisions,
              stopAsked: false,
              lost: false,
              problem: null,
            })),
          ],
        },
        join: {
          target: 'following.joining',
          actions: [
            ({ context, event }) => context.transcript.trigger.joined({ id: event.replyId, now: timeOfServer() }),
            assign({ chat: null, decisions: null, stopAsked: false, lost: false }),
          ],
        },
      },
    },
    following: {
      invoke: { src: 'stream', input: ({ context }) => context },
      initial: 'joining',
      on: {
        ended: 'idle',
        refused: {
          target: 'idle',
          actions: [
            ({ context }) => context.transcript.trigger.refused(),
            assign(({ context: { chat, decisions }, event: { error } }) => ({
              problem: { error: decisions ? decisionProblem(error) : error, text: chat && textOf(chat) },
            })),
          ],
        },
      },
      states: {
        sending: {
          on: {
            opened: [
              {
                guard: 'stopAsked',
                target: 'stopping',
                actions: assign({ sessionId: ({ event }) => event.sessionId }),
              },
              { target: 'streaming', actions: assign({ sessionId: ({ event }) => event.sessionId }) },
            ],
            // The server may not have the message yet: the reply is stopped once it has.
            stop: { actions: assign({ stopAsked: true }) },
          },
        },
        joining: {
          on: {
            opened: 'streaming',
            lost: { target: 'reconnecting', actions: assign({ lost: true }) },
            stop: 'stopping',
          },
        },
        streaming: { on: { lost: { target: 'reconnecting', actions: assign({ lost: true }) }, stop: 'stopping' } },
        reconnecting: {
          on: { opened: { target: 'streaming', actions: ['reconnected', assign({ lost: false })] }, stop: 'stopping' },
        },
        stopping: {
          invoke: {
            src: 'cancel',
            input: ({ context }) => context,
            // Done: the stream's last frames end it.
            onError: [
              { guard: 'lost', target: 'reconnecting', actions: 'notStopped' },
              { target: 'streaming', actions: 'notStopped' },
            ],
          },
          on: {
            lost: { actions: assign({ lost: true }) },
            opened: { actions: ['reconnected', assign({ lost: false })] },
          },
        },
      },
    },
  },
})
