/**
 * Encoder of a reply's frames as OpenAI's events (contract section 24), and of the response object that they add up to.
 * It is a pure function of the stored frames: every reader on every instance gets the same events under the same
 * numbers, for ever. Its version is stored with each reply (`ENCODER`): a change that moves a number is a new version
 * next to this one.
 */
import {
  cutsOff,
  type Frame,
  type ReplyEvent,
  type ShownCall,
  type WaitKind,
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

/** The version of this file's event numbers. */
export const ENCODER = 1

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

const emptyText = (): OutputText => ({ type: 'output_text', text: '', annotations: [], logprobs: [] })

/** Writes texts and reasoning into the output as items, one open item at a time. */
function createTexts(replyId: string, output: OutputItem[], emit: Emit) {
  let open: TextItem | null = null
  let hasMessage = false

  const indexes = () => ({ item_id: open?.id, output_index: output.length - 1 })
  const message = () => ({ ...indexes(), content_index: 0 })
  const summary = () => ({ ...indexes(), summary_index: 0 })

  function begin(type: TextItem['type']): TextItem {
    const derived = outputUuid(replyId, output.length)
    const isFirst = type === 'message' && !hasMessage
    hasMessage ||= isFirst
    const item: TextItem =
      type === 'message'
        ? { id: idOf('msg', isFirst ? replyId : derived), type, status: 'in_progress', role: 'assistant', content: [] }
        : { id: idOf('rs', derived), type, status: 'in_progress', summary: [] }
    output.push(item)
    open = item
    emit('response.output_item.added', { output_index: output.length - 1, item })
    if (item.type === 'message') {
      emit('response.content_part.added', { ...message(), part: emptyText() })
      item.content.push(emptyText())
    } else {
      emit('response.reasoning_summary_part.added', { ...summary(), part: { type: 'summary_text', text: '' } })
      item.summary.push({ type: 'summary_text', text: '' })
    }
    return item
  }

  function close(status: TextItem['status'] = 'completed'): void {
    if (open === null) return
    open.status = status
    if (open.type === 'message') {
      const [part = emptyText()] = open.content
      emit('response.output_text.done', { ...message(), text: part.text, logprobs: [] })
      emit('response.content_part.done', { ...message(), part })
    } else {
      const [part = { type: 'summary_text', text: '' }] = open.summary
      emit('response.reasoning_summary_text.done', { ...summary(), text: part.text })
      emit('response.reasoning_summary_part.done', { ...summary(), part })
    }
    emit('response.output_item.done', { output_index: output.length - 1, item: open })
    open = null
  }

  return {
    add(type: TextItem['type'], delta: string): void {
      if (open !== null && open.type !== type) close()
      const item = open ?? begin(type)
      const [part] = item.type === 'message' ? item.content : item.summary
      if (part) part.text += delta
      if (item.type === 'message') emit('response.output_text.delta', { ...message(), delta, logprobs: [] })
      else emit('response.reasoning_summary_text.delta', { ...summary(), delta })
    },
    close,
  }
}

/** Returns the name of the server that a tool belongs to, from the name that the model sees. */
const serverLabel = (name: string): string => /^(.+?)__/.exec(name)?.[1] ?? 'greenroom'

function addCall(
  { id, name, arguments: text }: ShownCall,
  { kind, replyId, output, emit }: { kind: WaitKind; replyId: string; output: OutputItem[]; emit: Emit },
): void {
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
    call_id: idOf('call', uuid),
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
function takeStored(event: ReplyEvent, state: ResponseProgress, kinds: Map<string, WaitKind>): void {
  switch (event.type) {
    case 'model':
      state.model = event.model
      return
    case 'tool_call':
      if (event.waits !== undefined) kinds.set(event.id, event.waits)
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
  const kinds = new Map<string, WaitKind>()
  let out = ''
  let number = 0
  const emit: Emit = (type, fields) => {
    if (number > after) {
      out += `event: ${type}\nid: ${number}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`
    }
    number += 1
  }
  const texts = createTexts(replyId, output, emit)
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
