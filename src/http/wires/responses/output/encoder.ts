/**
 * Encoder of a reply's frames as OpenAI's events (contract section 24), and of the response object that they add up to.
 * It is a pure function of the stored frames: every reader on every instance gets the same events under the same
 * numbers, for ever. Its version is stored with each reply (`ITEM_ENCODER`): a change that moves a number is a new
 * version. Version 2 has one message for each model turn (section 32); in version 1 a message ends where reasoning begins.
 */
import {
  cutsOff,
  type Frame,
  isUnmadeKind,
  type ReplyEvent,
  type ShownCall,
} from '../../../../actors/reply/reply-event.ts'
import { callUuid, idOf, outputUuid } from './ids.ts'
import {
  isFailure,
  type OutputItem,
  type OutputText,
  type ResponseHead,
  type ResponseObject,
  type ResponseProgress,
  responseObject,
} from './response-object.ts'

export interface ResponseEncoder {
  /** Returns the events of these frames, as they are written to the wire. */
  encode(frames: readonly Frame[]): string
  /** Returns the response up to now. */
  response(): ResponseObject
  /** Returns how the reply ended. It is null while the reply runs. */
  ended(): ResponseProgress['ended']
}

type Emit = (type: string, fields: object) => void

type TextItem = Extract<OutputItem, { type: 'message' | 'reasoning' }>

const emptySummary = () => ({ type: 'summary_text' as const, text: '' })
const emptyText = (): OutputText => ({ type: 'output_text', text: '', annotations: [], logprobs: [] })

type TextType = TextItem['type']
type Phase = 'commentary' | 'final_answer'

/** Writes texts and reasoning into the output as items. `perTurn`: a message is open until its turn is over. */
function createTexts(replyId: string, output: OutputItem[], { emit, perTurn }: { emit: Emit; perTurn: boolean }) {
  const open = new Map<TextType, { item: TextItem; index: number }>()
  let hasMessage = false
  let hasCalls = false

  const message = (id: string, index: number) => ({ item_id: id, output_index: index, content_index: 0 })
  const summary = (id: string, index: number) => ({ item_id: id, output_index: index, summary_index: 0 })

  function begin(type: TextType): { item: TextItem; index: number } {
    const index = output.length
    const derived = outputUuid(replyId, output.length)
    const isFirst = type === 'message' && !hasMessage
    hasMessage ||= isFirst
    const item: TextItem =
      type === 'message'
        ? { id: idOf('msg', isFirst ? replyId : derived), type, status: 'in_progress', role: 'assistant', content: [] }
        : { id: idOf('rs', derived), type, status: 'in_progress', summary: [] }
    output.push(item)
    emit('response.output_item.added', { output_index: index, item })
    if (item.type === 'message') {
      emit('response.content_part.added', { ...message(item.id, index), part: emptyText() })
      item.content.push(emptyText())
    } else {
      emit('response.reasoning_summary_part.added', { ...summary(item.id, index), part: emptySummary() })
      item.summary.push(emptySummary())
    }
    const begun = { item, index }
    open.set(type, begun)
    return begun
  }

  function close(type: TextType, status: TextItem['status'] = 'completed', phase?: Phase): void {
    const closed = open.get(type)
    if (closed === undefined) return
    open.delete(type)
    const { item, index } = closed
    item.status = status
    if (item.type === 'message') {
      const [part = emptyText()] = item.content
      if (phase !== undefined) item.phase = phase
      emit('response.output_text.done', { ...message(item.id, index), text: part.text, logprobs: [] })
      emit('response.content_part.done', { ...message(item.id, index), part })
    } else {
      const [part = emptySummary()] = item.summary
      emit('response.reasoning_summary_text.done', { ...summary(item.id, index), text: part.text })
      emit('response.reasoning_summary_part.done', { ...summary(item.id, index), part })
    }
    emit('response.output_item.done', { output_index: index, item })
  }

  return {
    add(type: TextType, delta: string): void {
      if (type === 'message') close('reasoning')
      else if (!perTurn) close('message')
      const { item, index } = open.get(type) ?? begin(type)
      const [part] = item.type === 'message' ? item.content : item.summary
      if (part) part.text += delta
      if (item.type === 'message')
        emit('response.output_text.delta', { ...message(item.id, index), delta, logprobs: [] })
      else emit('response.reasoning_summary_text.delta', { ...summary(item.id, index), delta })
    },
    /** Ends the items of a turn that called tools. */
    turnCalls(): void {
      if (!perTurn) return
      hasCalls = true
      close('reasoning')
      close('message', 'completed', 'commentary')
    },
    close(status: TextItem['status'] = 'completed'): void {
      close('reasoning', status)
      close('message', status, hasCalls ? 'final_answer' : undefined)
    },
  }
}

/** Returns the name of the server that a tool belongs to, from the name that the model sees. */
const serverLabel = (name: string): string => /^(.+?)__/.exec(name)?.[1] ?? 'greenroom'

function addCall(
  { id, name, arguments: text }: ShownCall,
  { kind, replyId, output, emit }: { kind: string; replyId: string; output: OutputItem[]; emit: Emit },
): void {
  if (!isUnmadeKind(kind)) return // no item has words for a server's question, or another session's
  const uuid = callUuid(replyId, id)
  const output_index = output.length
  if (kind === 'approval') {
    const item = {
      id: idOf('mcpr', uuid),
      type: 'mcp_approval_request' as const,
      name,
      arguments: text,
      server_label: serverLabel(name),
    }
    output.push(item)
    emit('response.output_item.added', { output_index, item })
    emit('response.output_item.done', { output_index, item })
    return
  }
  const item = {
    id: idOf('fc', uuid),
    type: 'function_call' as const,
    status: 'completed' as const,
    call_id: id,
    name,
    arguments: text,
  }
  output.push(item)
  const place = { item_id: item.id, output_index }
  emit('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } })
  emit('response.function_call_arguments.delta', { ...place, delta: text })
  emit('response.function_call_arguments.done', { ...place, name, arguments: text })
  emit('response.output_item.done', { output_index, item })
}

/** Stores what an event says besides its words, which are frames. `kinds` are those of the calls that wait. */
function takeStored(event: ReplyEvent, state: ResponseProgress, kinds: Map<string, string>): void {
  switch (event.type) {
    case 'model':
      state.model = event.model
      return
    case 'tool_call':
      if (event.waits !== undefined) kinds.set(event.id, event.waits)
      return
    case 'tool_asked':
      kinds.set(event.id, 'input')
      return
    case 'text':
    case 'reasoning':
    case 'tool_begun':
    case 'tool_result':
    case 'tool_unknown': // calls of the agent's own tools are not shown
      return
    default:
      event satisfies never
  }
}

/** Returns an encoder. `after` is the number of the last event that the reader has, or -1. */
export function createResponseEncoder(head: ResponseHead, after = -1): ResponseEncoder {
  const { id: replyId, model } = head.reply
  const output: OutputItem[] = []
  const state: ResponseProgress = { model, output, usage: null, ended: null }
  const kinds = new Map<string, string>()
  let out = ''
  let number = 0
  const emit: Emit = (type, fields) => {
    if (number > after) {
      out += `event: ${type}\nid: ${number}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`
    }
    number += 1
  }
  const texts = createTexts(replyId, output, { emit, perTurn: head.encoder >= 2 })
  const response = () => responseObject(head, state)

  const end = (ended: NonNullable<ResponseProgress['ended']>): void => {
    const isWhole = !isFailure(ended) && !cutsOff(ended)
    texts.close(isWhole ? 'completed' : 'incomplete')
    state.ended = ended
    const how = isWhole ? 'response.completed' : 'response.incomplete'
    emit(isFailure(ended) ? 'response.failed' : how, { response: response() })
  }
  const onFrame = (frame: Frame): void => {
    switch (frame.type) {
      case 'started':
        emit('response.created', { response: response() })
        emit('response.in_progress', { response: response() })
        break
      case 'text':
        texts.add('message', frame.text)
        break
      case 'reasoning':
        texts.add('reasoning', frame.text)
        break
      case 'stored':
        if (frame.stored.event.type === 'tool_call') texts.turnCalls()
        takeStored(frame.stored.event, state, kinds)
        break
      case 'calls':
        texts.close()
        // Calls that an earlier reply requested after its approvals are the caller's.
        for (const call of frame.calls) addCall(call, { kind: kinds.get(call.id) ?? 'caller', replyId, output, emit })
        break
      case 'finished':
        state.usage = frame.usage
        end(frame.reason)
        break
      case 'failed':
        end(frame.error)
        break
      case 'usage':
      case 'done':
      case 'state':
        break
      default:
        frame satisfies never
    }
  }
  return {
    encode(frames) {
      out = ''
      for (const frame of frames) onFrame(frame)
      return out
    },
    response,
    ended: () => state.ended,
  }
}
