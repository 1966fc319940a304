/** Stateless completions (specification 4.11): nothing is stored, a client that leaves stops the generation. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { createGeneration, type Generation, replyEnded } from '../../actors/generate.ts'
import type { Observer, ReplyObserver } from '../../actors/observer.ts'
import type { Model, ModelMessage, Take } from '../../actors/ports.ts'
import { closingFrames, type Frame, type Outcome, type ReplyEvent } from '../../actors/reply-event.ts'
import type { SessionHost } from '../../actors/session-host.ts'
import type { Ending } from '../../actors/session-machine.ts'
import type { Slot } from '../../actors/slots.ts'
import type { AgentForCompletion } from '../../persistence/agent-lookup.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from '../agent-request.ts'
import { completionBody, completionHead, createFrameEncoder, statelessFrame } from '../completion-frames.ts'
import type { Handlers } from '../mount.ts'
import { traceparentOf } from '../observe-requests.ts'
import { connectionSignal } from '../reply-stream.ts'
import { type EventStream, openEventStream } from '../sse.ts'
import { readMessages } from './chat-request.ts'
import { generationFailed, refuse } from './errors.ts'

export interface CompletionRooms extends AgentRooms {
  host: SessionHost
  model: Model
  generationTimeoutMs: number
  observer: Observer
}

/** A reply as it is asked for: from an agent that may be another one by now. */
interface Asked {
  agent: AgentForCompletion
  messages: readonly ModelMessage[]
  /** Whether it is the agent of now. Until that is known the model may be asked; nobody hears what it says. */
  isCurrent: Promise<boolean>
  slot: Slot
  /** Aborts when the client leaves. */
  client: AbortSignal
}

/** Who hears a reply. */
interface Listener {
  /** There is something to hear: called once, before all else. */
  open(): void
  take: Take<ReplyEvent>
}

/** Null: the client has left. `stale`: the agent is another one by now; nothing was said. Rejects as `isCurrent` does. */
async function generate(
  { generation, observer }: { generation: Generation; observer: ReplyObserver },
  { isCurrent, slot, client }: Asked,
  { open, take }: Listener,
): Promise<Outcome | 'stale' | null> {
  const stop = new AbortController()
  const end = () => stop.abort(replyEnded)
  for (const signal of [client, slot.signal]) {
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  }
  let isOpen = false
  const opening = isCurrent.then((current) => {
    if (!current) end()
    else if (!client.aborted) open()
    isOpen = current
    return current
  })
  opening.catch(end)
  const own = await generation
    .run(stop.signal, (events) => {
      if (client.aborted) return undefined
      return isOpen ? take(events) : opening.then((current) => (current ? take(events) : undefined))
    })
    .catch(notGenerated)
  for (const signal of [client, slot.signal]) signal.removeEventListener('abort', end)
  const current = await opening.catch(() => false)
  if (client.aborted || !current) {
    void generation.usage().then((usage) => observer.ended('left', usage))
    return client.aborted || (await opening) ? null : 'stale'
  }
  const ending: Ending = slot.error ? { type: 'failed', error: slot.error } : own
  const usage = await generation.usage()
  observer.ended(ending.type === 'failed' ? ending.error.code : ending.reason, usage)
  return { ...ending, usage }
}

const notGenerated = (error: unknown): Ending => ({
  ...{ type: 'failed', error: { code: 'internal', message: 'The reply could not be generated.', detail: `${error}` } },
})

type Exchange = Parameters<Handlers<'completions'>['createChatCompletion']>[0]

/** Begins a reply; `hear` as `generate`. */
function begin(rooms: CompletionRooms, { request }: Exchange, asked: Asked) {
  const { agent, messages } = asked
  const id = randomUUID()
  const modelRequest = agentRequest(rooms, agent)
  const observer = rooms.observer.begin({
    ...{ id, sessionId: null, agentId: agent.id, model: agent.model },
    ...{ providerType: modelRequest.provider.type, config: modelRequest.config, parent: traceparentOf(request) },
  })
  const openToolbox = agentToolbox(rooms, agent)
  const options = { model: rooms.model, openToolbox, timeoutMs: rooms.generationTimeoutMs, observer }
  const generation = createGeneration({ ...modelRequest, messages }, options)
  return {
    head: completionHead({ id, createdAt: new Date().toISOString(), model: agent.model }),
    hear: (listener: Listener) => generate({ generation, observer }, asked, listener),
  }
}

type Answer = ReturnType<typeof completionBody> | undefined | 'stale'

export const completionHandlers = (rooms: CompletionRooms) =>
  ({
    createChatCompletion: async (exchange) => {
      const { params, body, reply } = exchange
      // An agent that was current a moment ago gets a head start: the model is asked while the database is. One that
      // rested for longer does not, since what it says might go to a provider that was exchanged meanwhile.
      const recent = rooms.agents.recent(params.agent_id)
      const agent = recent ?? (await loadAgent(rooms, params.agent_id))
      const messages = readMessages(body.messages)
      const slot = rooms.host.takeSlot(agent.id)
      if (typeof slot === 'string') return refuse(slot)
      using _slot = slot
      const isCurrent = recent ? rooms.agents.isCurrent(recent) : Promise.resolve(true)
      let asked: Asked = { agent, isCurrent, messages, slot, client: connectionSignal(reply) }
      for (;;) {
        const answer: Answer = await (body.stream ? stream : answerWhole)(begin(rooms, exchange, asked), exchange)
        if (answer !== 'stale') return answer
        asked = { ...asked, agent: await loadAgent(rooms, params.agent_id), isCurrent: Promise.resolve(true) }
      }
    },
  }) satisfies Handlers<'completions'>

type Begun = ReturnType<typeof begin>

async function answerWhole({ head, hear }: Begun, { reply }: Exchange): Promise<Answer> {
  let content = ''
  const outcome = await hear({
    open() {},
    take(events) {
      for (const event of events) if (event.type === 'text') content += event.text
      return undefined
    },
  })
  if (outcome === 'stale') return outcome
  if (outcome?.type === 'failed') return generationFailed(outcome.error)
  if (outcome) return completionBody(head, content, outcome.reason, outcome.usage)
  reply.hijack() // the client has gone: nobody to answer
  return undefined
}

async function stream({ head, hear }: Begun, { reply, body }: Exchange): Promise<Answer> {
  const encoder = createFrameEncoder(head)
  let events: EventStream | null = null
  const write = (frames: readonly Frame[]) => {
    let text = ''
    for (const frame of frames) text += statelessFrame(encoder, frame)
    return text === '' ? undefined : events?.write(text)
  }
  const outcome = await hear({
    open() {
      events = openEventStream(reply)
      void write([{ seq: 0, type: 'started' }])
    },
    take: (said) => write(said.map((event) => ({ seq: 0, ...event }))),
  })
  if (outcome === 'stale') return outcome
  if (outcome) await write(closingFrames(outcome, 0, body.stream_options?.include_usage === true))
  end(reply, events)
  return undefined
}

/** Ends what was opened; of a client that left before there was nothing to open. */
function end(reply: FastifyReply, events: EventStream | null): void {
  if (events) events.end()
  else reply.hijack()
}
