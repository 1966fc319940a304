/** What the session machine is provided with, made of the ports: generating, settling, and the ends of a reply's log. */
import { assertEvent, fromCallback } from 'xstate'
import { createGeneration, type GenerateOptions, type Generation, isNotStored, replyEnded } from './generate.ts'
import { historyLimits, modelHistory } from './history.ts'
import type { ReplyEnd, ReplyObserver } from './observer.ts'
import type { Journal, ModelRequest, ReplyInfo, Take } from './ports.ts'
import type { Outcome, ReplyEvent, Usage } from './reply-event.ts'
import type { ReplyLog } from './reply-log.ts'
import type { Ending, GenerateInput, SessionContext, SessionEvent, SettleInput } from './session-machine.ts'
import { deriveTitle } from './title.ts'

/** Everything that a running reply needs beside its machine. */
export interface RunningReply {
  log: ReplyLog
  /** Of the reply's message in its session. */
  position: number
  /** The user's message that it answers. */
  text: string
  /** What a title is derived from. Null: the session has one. */
  titleFrom: string | null
  request: Omit<ModelRequest, 'messages' | 'tools'>
  options: GenerateOptions
  historyMaxTokens: number
  requesterLost: boolean
  generation: Generation | null
  /** Final once it settles. */
  usage: Usage
  /** Since when (ms, monotonic) the outcome waits to be stored. */
  settlingSince: number | null
  observer: ReplyObserver
  /** How it ended, as far as this instance knows. */
  end: Omit<ReplyEnd, 'usage'>
  /** It was ended because it could not be stored: observers tell that from other faults, the wire does not. */
  notStored: boolean
}

export interface SessionActorPorts {
  journal: Journal
  /** The running reply of that id; it is there as long as its machine streams. */
  running(replyId: string): RunningReply | undefined
  onError(error: unknown, reply: ReplyInfo): void
}

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, estimated: true }

const failure = (message: string, error: unknown): SessionEvent => ({
  type: 'failed',
  error: { code: 'internal', message, detail: `${message} ${error}` },
})

/** Reads the generation into the log, as fast as the log can be stored. */
async function generate(running: RunningReply, journal: Journal, signal: AbortSignal): Promise<SessionEvent> {
  const { log, position, text, historyMaxTokens } = running
  const earlier =
    position > 1 ? await journal.history(log.info.sessionId, position - 1, historyLimits(historyMaxTokens)) : []
  const messages = modelHistory(earlier, text, historyMaxTokens, earlier.length === position - 1)
  const generation = createGeneration({ ...running.request, messages }, running.options)
  running.generation = generation
  const take: Take<ReplyEvent> = (events) => {
    if (signal.aborted) return undefined
    log.push(events)
    return log.room()
  }
  const ending = await generation.run(signal, take, async () => (await log.stored()) === 'stored')
  if (isNotStored(ending)) running.notStored = true
  return ending
}

/** Stores what is left and the outcome. Resolves to the event that ends the settling. */
async function settle(running: RunningReply, ending: Ending, journal: Journal): Promise<SessionEvent> {
  const { log } = running
  const endedAt = new Date()
  running.observer.settling()
  const stored = await log.stored()
  if (stored === 'fenced') return { type: 'lost' }
  const usage = (await running.generation?.usage()) ?? noUsage
  running.usage = usage
  running.settlingSince = performance.now()
  if (stored === 'refused') running.notStored = true
  const outcome: Outcome = stored === 'refused' ? refused(usage) : { ...ending, usage }
  // A log that was cut has missed what was stored since, and a refused write may have been stored the first time it was
  // sent: what followers elsewhere were shown must stay.
  const knowsAll = stored === 'stored' && log.state() === 'open'
  const settled = await journal.settle(log.info, {
    outcome,
    events: knowsAll ? log.events() : null,
    endedAt,
    requesterLost: running.requesterLost,
    reasoningMs: running.generation?.reasoningMs() ?? null,
    title: running.titleFrom === null ? null : deriveTitle(running.titleFrom),
  })
  if (settled.result !== 'settled') return { type: settled.result === 'gone' ? 'deleted' : 'lost' }
  return { type: 'settled', ended: { outcome, endedAt: endedAt.toISOString(), settledAt: settled.settledAt } }
}

function endOf(outcome: Outcome, notStored: boolean): RunningReply['end'] {
  if (outcome.type === 'finished') return { outcome: outcome.reason, error: null }
  const { error } = outcome
  return { outcome: notStored && error.code === 'internal' ? 'not_stored' : error.code, error }
}

function refused(usage: Usage): Outcome {
  const message = 'A part of the reply could not be stored.'
  return { type: 'failed', error: { code: 'internal', message, detail: message }, usage }
}

export function sessionActors({ journal, running, onError }: SessionActorPorts) {
  return {
    generate: fromCallback<SessionEvent, GenerateInput, SessionEvent>(({ input, sendBack }) => {
      const reply = input.reply
      const own = reply === null ? undefined : running(reply.id)
      if (reply === null || own === undefined) throw new Error('A reply without its running part.')
      const controller = new AbortController()
      generate(own, journal, controller.signal).then(
        (event) => {
          if (!controller.signal.aborted) sendBack(event)
        },
        (error: unknown) => {
          if (controller.signal.aborted) return
          onError(error, reply)
          sendBack(failure('The reply could not be generated.', error))
        },
      )
      return () => controller.abort(replyEnded)
    }),
    settle: fromCallback<SessionEvent, SettleInput, SessionEvent>(({ input, sendBack }) => {
      const reply = input.reply
      const own = reply === null ? undefined : running(reply.id)
      if (reply === null || own === undefined || input.ending === null)
        throw new Error('A reply without its running part.')
      settle(own, input.ending, journal).then(sendBack, (error: unknown) => {
        // The row still streams: the check for orphans settles it within seconds (local.ts).
        onError(error, reply)
        sendBack({ type: 'lost' })
      })
    }),
  }
}

/** The machine's actions that end a log: nothing else does. */
export function sessionActions({ running }: Pick<SessionActorPorts, 'running'>) {
  type Args = { context: SessionContext; event: SessionEvent }
  const replyOf = ({ context: { reply } }: Args) => (reply === null ? undefined : running(reply.id))
  return {
    closeLog(args: Args): void {
      assertEvent(args.event, 'settled')
      const reply = replyOf(args)
      if (reply === undefined) return
      const { ended } = args.event
      reply.end = endOf(ended.outcome, reply.notStored)
      reply.log.close(ended)
    },
    cutLog(args: Args): void {
      const reply = replyOf(args)
      if (reply === undefined) return
      reply.requesterLost = true
      reply.log.cut()
    },
    dropLog(args: Args): void {
      const reply = replyOf(args)
      if (reply === undefined) return
      reply.end = { outcome: 'session_deleted', error: null }
      reply.log.drop()
    },
  }
}
