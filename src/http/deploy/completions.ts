/** Stateless completions (specification 4.11): nothing is stored, a client that leaves stops the generation. */
import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { createGeneration, type Generation } from '../../actors/generate.ts'
import type { ObservedOutcome, Observer, ReplyObserver } from '../../actors/observer.ts'
import type { Model } from '../../actors/ports.ts'
import { closingFrames, type Frame } from '../../actors/reply-event.ts'
import { noUsage } from '../../actors/session-actors.ts'
import type { SessionHost } from '../../actors/session-host.ts'
import type { Ending } from '../../actors/session-machine.ts'
import type { Slot } from '../../actors/slots.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from '../agent-request.ts'
import { completionBody, completionHead, createFrameEncoder, statelessFrame } from '../completion-frames.ts'
import type { Handlers } from '../mount.ts'
import { traceparentOf } from '../observe-requests.ts'
import { connectionSignal } from '../reply-stream.ts'
import { openEventStream } from '../sse.ts'
import { readMessages } from './chat-request.ts'
import { generationFailed, refuse } from './errors.ts'

export interface CompletionRooms extends AgentRooms {
  host: SessionHost
  model: Model
  generationTimeoutMs: number
  observer: Observer
}

/** Frames of a reply that nobody keeps. Ends without closing frames when `client` aborts. */
async function* frames(
  { generation, observer }: { generation: Generation; observer: ReplyObserver },
  client: AbortSignal,
  slot: Slot,
  includeUsage: boolean,
): AsyncGenerator<Frame, void> {
  yield { seq: 0, type: 'started' }
  const events = generation.events(AbortSignal.any([client, slot.signal]))
  let ending: Ending | null = null
  let ended: ObservedOutcome = 'left'
  let usage = noUsage
  try {
    while (ending === null) {
      const step = await events.next()
      if (client.aborted) return
      if (step.done) ending = step.value
      else yield { seq: 0, ...step.value }
    }
    if (slot.error) ending = { type: 'failed', error: slot.error }
  } catch (error) {
    if (client.aborted) return
    const message = 'The reply could not be generated.'
    ending = {
      type: 'failed',
      error: slot.error ?? { code: 'internal', message, detail: String(error) },
    }
  } finally {
    if (ending !== null) ended = ending.type === 'failed' ? ending.error.code : ending.reason
    usage = generation.usage()
    observer.ended(ended, usage)
  }
  yield* closingFrames({ ...ending, usage }, 0, includeUsage)
}

export const completionHandlers = (rooms: CompletionRooms) =>
  ({
    createChatCompletion: async ({ params, body, request, reply }) => {
      const agent = await loadAgent(rooms, params.agent_id)
      const messages = readMessages(body.messages)
      const slot = rooms.host.takeSlot(agent.id)
      if (typeof slot === 'string') return refuse(slot)
      using _slot = slot
      const id = randomUUID()
      const asked = agentRequest(rooms, agent)
      const observer = rooms.observer.begin({
        ...{ id, sessionId: null, agentId: agent.id, model: agent.model },
        ...{ providerType: asked.provider.type, config: asked.config, parent: traceparentOf(request) },
      })
      const openToolbox = agentToolbox(rooms, agent)
      const options = { model: rooms.model, openToolbox, timeoutMs: rooms.generationTimeoutMs, observer }
      const generation = createGeneration({ ...asked, messages }, options)
      const reading = { generation, observer }
      const head = completionHead({ id, createdAt: new Date().toISOString(), model: agent.model })
      if (body.stream) {
        const includeUsage = body.stream_options?.include_usage === true
        await stream(reply, head, (client) => frames(reading, client, slot, includeUsage))
        return undefined
      }
      let content = ''
      for await (const frame of frames(reading, connectionSignal(reply), slot, false)) {
        if (frame.type === 'text') content += frame.text
        if (frame.type === 'failed') return generationFailed(frame.error)
        if (frame.type === 'finished') return completionBody(head, content, frame.reason, frame.usage)
      }
      reply.hijack() // the client has gone: nobody to answer
      return undefined
    },
  }) satisfies Handlers<'completions'>

async function stream(
  reply: FastifyReply,
  head: ReturnType<typeof completionHead>,
  read: (client: AbortSignal) => AsyncIterable<Frame>,
): Promise<void> {
  const events = openEventStream(reply)
  const encoder = createFrameEncoder(head)
  for await (const frame of read(events.signal)) {
    if (encoder.data(frame) !== null) await events.write(statelessFrame(encoder, frame))
  }
  events.end()
}
