/** Items of an input. */
import { expect } from 'vitest'
import { ITEM, type Kit, PIXEL, type Step, user } from './kit.ts'

function messageItems({ client, create, sent, called, callIn, honoured, refused, got }: Kit): Step[] {
  return [
    honoured(ITEM, '`message` of role `user`', '`input_text`, `input_image`, `input_file`', () =>
      create({ input: [user([{ type: 'input_text', text: 'Hi' }])] }),
    ),
    honoured(ITEM, '`message` of role `assistant`', 'History', () =>
      create({ input: [user('a'), { role: 'assistant', content: 'b' }, user('c')] }),
    ),
    honoured(ITEM, '`message` of role `system` or `developer`', 'As `instructions`', () =>
      create({ input: [{ role: 'developer', content: 'x' }, user('Hi')] }),
    ),
    honoured(ITEM, '`input_image`, `image_url`', 'A data URL or an address', async () => {
      await create({ input: [user([{ type: 'input_image', image_url: PIXEL, detail: 'auto' }])] })
      expect(JSON.stringify(sent()?.messages)).toContain('image_url')
    }),
    honoured(ITEM, '`input_file`, `file_data`', 'PDF, Word, Excel and text', () =>
      create({ input: [user([{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGk=' }])] }),
    ),
    honoured(ITEM, '`file_id`', 'An uploaded file, as `input_file` or `input_image`', async () => {
      const { id } = await client.files.create({ file: new File(['Hi'], 'a.txt'), purpose: 'user_data' })
      await create({ input: [user([{ type: 'input_file', file_id: id }])] })
    }),
    refused(ITEM, '`file_url`', 'Send the bytes as `file_data`, or upload them and send `file_id`', {
      params: { input: [user([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])] },
    }),
    honoured(ITEM, '`function_call_output`', 'The reply continues from the call', async () => {
      const asked = await called()
      const output = { type: 'function_call_output', call_id: callIn(asked), output: 'seen' }
      await got({ input: [output], previous_response_id: asked.id }, { status: 'completed' })
    }),
    honoured(ITEM, '`function_call_output`, `output` a list of `input_text`', 'The texts are joined', async () => {
      const asked = await called()
      const output = {
        type: 'function_call_output',
        call_id: callIn(asked),
        output: [{ type: 'input_text', text: 'seen' }],
      }
      await got({ input: [output], previous_response_id: asked.id }, { status: 'completed' })
    }),
    honoured(
      ITEM,
      '`function_call_output`, `output` a list with `input_image` or `input_file`',
      'They reach the model with the result of the call',
      async () => {
        const asked = await called()
        const output = {
          type: 'function_call_output',
          call_id: callIn(asked),
          output: [{ type: 'input_image', image_url: PIXEL }],
        }
        await got({ input: [output], previous_response_id: asked.id }, { status: 'completed' })
      },
    ),
  ]
}

/** Items of tools that servers of OpenAI's ran. */
const passedOver = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'mcp_list_tools',
  'mcp_call',
  'tool_search_call',
  'tool_search_output',
]

function otherItems({ client, create, honoured, refused, foreign, got }: Kit): Step[] {
  return [
    honoured(ITEM, '`function_call`, with its output at the end of a history', 'Also of calls of another server', () =>
      create({
        input: [
          user('a'),
          { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'x', output: '1' },
        ],
      }),
    ),
    refused(ITEM, 'a call without its output', 'Send its output after it', {
      params: { input: [user('a'), { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' }] },
    }),
    honoured(ITEM, 'pictures and files in a new conversation’s history', 'Up to 20 MiB together', () =>
      create({
        input: [user([{ type: 'input_image', image_url: PIXEL }]), { role: 'assistant', content: 'b' }, user('c')],
      }),
    ),
    honoured(
      ITEM,
      '`custom_tool_call`, `custom_tool_call_output`',
      'As a function’s, with the arguments `{"input"}`',
      () =>
        create({
          input: [
            user('a'),
            { type: 'custom_tool_call', call_id: 'x', name: 'f', input: '1' },
            { type: 'custom_tool_call_output', call_id: 'x', output: '1' },
          ],
        }),
    ),
    honoured(ITEM, '`reasoning`', 'Passed over', () =>
      create({ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, user('c')] }),
    ),
    honoured(ITEM, '`item_reference`', 'Names the place', async () => {
      const first = await create({})
      await got(
        { input: [{ type: 'item_reference', id: first.output[0]?.id }, user('c')] },
        { conversation: first.conversation },
      )
    }),
    honoured(ITEM, '`compaction`', 'Of this server and agent; names the place, or begins a conversation', async () => {
      const first = await create({})
      const second = await create({ previous_response_id: first.id })
      const { output } = await client.responses.compact({ model: 'any', previous_response_id: second.id })
      await got({ input: [...output, user('c')] }, { previous_response_id: second.id })
    }),
    honoured(ITEM, '`mcp_approval_request`', 'Passed over', () =>
      create({
        input: [{ type: 'mcp_approval_request', id: 'm', name: 'f', arguments: '{}', server_label: 's' }, user('c')],
      }),
    ),
    refused(ITEM, '`mcp_approval_response`, where nothing waits for it', 'With `include_actions: true` calls wait', {
      params: { input: [{ type: 'mcp_approval_response', approval_request_id: 'm', approve: true }] },
    }),
    ...passedOver.map(foreign),
    ...['additional_tools', 'configuration_update'].map((type) =>
      refused(ITEM, `\`${type}\``, 'Send the fields with the request', { params: { input: [{ type }, user('a')] } }),
    ),
    refused(ITEM, '`compaction_trigger`', 'Call `responses.compact`, or set the agent’s `compaction`', {
      params: { input: [user('a'), { type: 'compaction_trigger' }] },
    }),
    ...['program', 'program_output'].map((type) =>
      refused(ITEM, `\`${type}\``, '', { params: { input: [{ type, id: 'x' }, user('a')] } }),
    ),
    refused(ITEM, 'items of other types', '', { params: { input: [{ type: 'made_up' }, user('a')] } }),
  ]
}

export const itemSteps = (kit: Kit): Step[] => [...messageItems(kit), ...otherItems(kit)]
