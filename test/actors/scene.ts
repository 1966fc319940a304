/** A session host on ports that the test holds in its hand: a journal in memory, a model that says what it is told. */

import { createLeaseGate } from '../../src/actors/generate/endings.ts'
import type { Model, ModelEvent, SentMessage, StoredReply, TransitionRecord } from '../../src/actors/ports/index.ts'
import type { Reply } from '../../src/actors/reply/frame-log.ts'
import { createRemoteReplies } from '../../src/actors/reply/remote-reply.ts'
import { type Frame, kindOf } from '../../src/actors/reply/reply-event.ts'
import {
  createHost,
  createSessionHost,
  type Host,
  type HostExtension,
  type HostOptions,
  type HostSent,
  type MessageRecord,
  type ReplySetup,
} from '../../src/actors/session/host.ts'
import { capabilities } from '../../src/compose/capabilities.ts'
import { noExchange } from '../../src/coordination/local.ts'
import { createTransitionRecorder } from '../../src/features/traces/transitions.ts'
import { told } from '../support/streams/model-stream.ts'
import { into } from '../support/streams/take.ts'
import { memoryJournal } from './memory-journal.ts'
import { turn } from './turn.ts'

export const end: ModelEvent = { type: 'end', reason: 'stop', usage: { promptTokens: 1, completionTokens: 1 } }
export const say = (text: string): ModelEvent => ({ type: 'text', text })
export const fail: ModelEvent = {
  type: 'failed',
  failure: { code: 'provider_error', message: 'm', detail: 'd' },
}

export interface ModelCall {
  readonly aborted: boolean
  say(...events: ModelEvent[]): Promise<void>
}

/** Each call of the model, in order; it says nothing until the test does. */
export function heldModel() {
  const calls: ModelCall[] = []
  const model: Model = {
    countTokens: async (texts) => texts.map(({ length }) => length),
    stream: told(async function* (_, signal) {
      const queue: ModelEvent[] = []
      let wake = () => {}
      signal.addEventListener('abort', () => wake())
      calls.push({
        get aborted() {
          return signal.aborted
        },
        async say(...events) {
          queue.push(...events)
          wake()
          await turn()
        },
      })
      while (!signal.aborted) {
        const event = queue.shift()
        if (event) yield event
        else await new Promise<void>((resolve) => (wake = resolve))
        if (event?.type === 'end' || event?.type === 'failed') return
      }
    }),
  }
  return { model, calls }
}

type Wanted = Partial<SentMessage> &
  Partial<Pick<ReplySetup, 'agentName' | 'request' | 'openToolbox' | 'origin' | 'actions'>>

const request: ReplySetup['request'] = {
  provider: { id: 'p', type: 'demo', baseUrl: null, apiKey: null },
  model: 'm',
  system: null,
  config: {},
  reasoning: false,
}
const noTools: ReplySetup['openToolbox'] = async () => ({
  tools: [],
  call: async () => ({ ok: false, content: '' }),
})

export const message = (sessionId = 's', { actions, ...wanted }: Wanted = {}): MessageRecord => {
  const { agentName = 'A', request: asked = request, openToolbox = noTools, origin = null, ...more } = wanted
  return {
    message: {
      agentId: 'a',
      sessionId,
      user: null,
      text: 'hi',
      model: 'm',
      includeUsage: false,
      idempotency: null,
      isRetry: false,
      configuration: null,
      onBusy: 'reject',
      ...more,
    },
    setup: { agentName, request: asked, openToolbox, origin, ...(actions && { actions }) },
    extras: {},
  }
}

/** Of an instance that never loses its lease. */
const openGate = createLeaseGate(() => Number.POSITIVE_INFINITY)

export function openScene(
  options: Partial<HostOptions> = {},
  extend: (host: Host) => readonly HostExtension[] = () => [],
) {
  const { model, calls } = heldModel()
  const store = memoryJournal()
  const steps: TransitionRecord[] = []
  const errors: unknown[] = []
  store.onSteps((settled) => void steps.push(...settled))
  const record = async (batch: readonly TransitionRecord[]) => void steps.push(...batch)
  const recorder = createTransitionRecorder({ record }, (error) => errors.push(error))
  const inner = createHost({
    journal: store.journal,
    model,
    recorder,
    maxRunning: 10,
    historyMaxTokens: 100,
    generationTimeoutMs: 60_000,
    exchange: noExchange,
    gate: openGate,
    leaseMs: 1000,
    log: { error: (details) => errors.push(details), warn() {}, info() {} },
    capabilities,
    ...options,
  })
  const host = createSessionHost(inner, extend(inner))
  return {
    host,
    inner,
    calls,
    store,
    errors,
    /** `from event to`, of all sessions or of one message. */
    steps: async (messageId?: string) => {
      await recorder.flush()
      const wanted = steps.filter((one) => messageId === undefined || one.messageId === messageId)
      return wanted.map(({ from, event, to }) => `${from} ${event} ${to}`)
    },
    running: () => host.registry.running(),
    live: (sessionId = 's') => host.registry.live.get(sessionId),
    /** Sends a message that must start a reply, and reads that from its beginning. */
    async start(sessionId = 's', more: Wanted = {}) {
      const sent = started(await host.send(message(sessionId, more)))
      await turn()
      return { ...sent, ...follow(sent.reply) }
    },
  }
}

export function started(sent: HostSent): Extract<HostSent, { outcome: 'started' }> {
  if (sent.outcome !== 'started') throw new Error(sent.outcome)
  return sent
}

/** What a finished reply reads as from the database, after the id `after`. */
export async function framesOf(reading: Omit<StoredReply, 'readTo'>, after = 0): Promise<Frame[]> {
  const stored = { ...reading, readTo: 0 }
  const remote = createRemoteReplies({ read: async () => stored, exchange: noExchange, waitLimitMs: 0 })
  const reply = await remote.open(stored.info.id)
  if (reply === null) throw new Error('It is not there.')
  const { frames, done } = follow(reply, after)
  await done
  return frames
}

/** Reads on; `frames` grows, `done` rejects when the stream breaks off. */
export function follow(reply: Reply, after = 0) {
  const frames: Frame[] = []
  const done = reply.read(after, new AbortController().signal, into(frames))
  done.catch(() => {})
  const shapes = () =>
    frames.flatMap((frame) => (frame.type === 'state' ? [] : frame.type === 'text' ? [frame.text] : [kindOf(frame)]))
  return { frames, done, shapes }
}
