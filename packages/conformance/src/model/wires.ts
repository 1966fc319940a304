/** The two wires that the model speaks: chat completions, and Responses. */
import type { Rule } from './rules.ts'

/** A wire: the events of an answer. */
export interface Wire {
  begin(): string[]
  text(piece: string): string[]
  call(call: NonNullable<Rule['call']>): string[]
  end(): string[]
  whole(text: string): object
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`

export function chatWire(id: string, model: string): Wire {
  const head = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model }
  const chunk = (delta: object, finish: string | null) =>
    event({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish !== null && { usage }),
    })
  let finish = 'stop'
  return {
    begin: () => [chunk({ role: 'assistant', content: '' }, null)],
    text: (piece) => [chunk({ content: piece }, null)],
    call(made) {
      finish = 'tool_calls'
      return [chunk({ tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: made }] }, null)]
    },
    end: () => [chunk({}, finish), 'data: [DONE]\n\n'],
    whole: (content) => ({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage,
    }),
  }
}

export function responsesWire(id: string, model: string): Wire {
  const head = { id: `resp_${id}`, object: 'response', created_at: Math.floor(Date.now() / 1000), model }
  const totals = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const output: object[] = []
  let sequence = 0
  let said = ''
  const send = (type: string, data: object) =>
    `event: ${type}\n${event({ type, sequence_number: sequence++, ...data })}`
  const item = { id: `msg_${id}`, type: 'message', role: 'assistant' }
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
  const message = () => ({ ...item, status: 'completed', content: [part(said)] })
  return {
    begin: () => [send('response.created', { response: { ...head, status: 'in_progress', output: [] } })],
    text(piece) {
      const first = said === ''
      said += piece
      return [
        ...(first
          ? [
              send('response.output_item.added', {
                output_index: 0,
                item: { ...item, status: 'in_progress', content: [] },
              }),
              send('response.content_part.added', { ...at, part: part('') }),
            ]
          : []),
        send('response.output_text.delta', { ...at, delta: piece }),
      ]
    },
    call(made) {
      const call = { id: `fc_${id}`, type: 'function_call', status: 'completed', call_id: `call_${id}`, ...made }
      output.push(call)
      return [
        send('response.output_item.added', { output_index: 0, item: { ...call, arguments: '' } }),
        send('response.function_call_arguments.done', { item_id: call.id, output_index: 0, arguments: made.arguments }),
        send('response.output_item.done', { output_index: 0, item: call }),
      ]
    },
    end() {
      const done = said === '' ? [] : [message()]
      return [
        ...done.flatMap((whole) => [
          send('response.output_text.done', { ...at, text: said }),
          send('response.content_part.done', { ...at, part: part(said) }),
          send('response.output_item.done', { output_index: 0, item: whole }),
        ]),
        send('response.completed', {
          response: { ...head, status: 'completed', output: [...done, ...output], usage: totals },
        }),
      ]
    },
    whole(text) {
      said = text
      return { ...head, status: 'completed', output: [message()], usage: totals }
    },
  }
}
