/** Steps of function calling, pictures, files, OpenAI’s own tools, counting and compaction. */
import { toFile } from 'openai'
import {
  ask,
  asksForTool,
  callIn,
  calls,
  conversations,
  eventsOf,
  expect,
  files,
  listed,
  model,
  note,
  outputOf,
  PIXEL,
  refused,
  responses,
  says,
  step,
  text,
  tool,
  user,
} from './kit.js'

// Function calling
step('a function is called', async () => {
  const call = callIn(await calls())
  expect(call.name === 'get_weather' && JSON.parse(call.arguments).city === 'Paris', 'call')
})
step('its output behind previous_response_id', async () => {
  const first = await calls()
  says(await ask([outputOf(first)], { previous_response_id: first.id, tools: [tool] }), 'Sunny')
})
step('its output in the whole input', async () => {
  const first = await calls()
  says(await ask([user(asksForTool), ...first.output, outputOf(first)], { tools: [tool] }), 'Sunny')
})
step('its output with store: false', async () => {
  const first = await calls({ store: false })
  says(await ask([user(asksForTool), ...first.output, outputOf(first)], { tools: [tool], store: false }), 'Sunny')
})
step('its output in a conversation', async () => {
  const { id } = await conversations.create()
  const first = await calls({ conversation: id })
  says(await ask([outputOf(first)], { conversation: id, tools: [tool] }), 'Sunny')
})
step('events of a call', async () => {
  const types = (await eventsOf(await calls({ stream: true }))).map(({ type }) => type)
  expect(types.includes('response.function_call_arguments.done'), types.join())
})
step('tool_choice', async () => {
  for (const tool_choice of ['required', 'none', { type: 'function', name: 'get_weather' }])
    await calls({ tool_choice })
})
step('parallel_tool_calls', async () =>
  expect((await calls({ parallel_tool_calls: false })).parallel_tool_calls === false, 'field'),
)
step('max_tool_calls', async () => expect((await calls({ max_tool_calls: 2 })).max_tool_calls === 2, 'field'))
step('an output as a list of texts', async () => {
  const first = await calls()
  says(await ask([outputOf(first, [text('Sunny')])], { previous_response_id: first.id }), 'Sunny')
})
step('an output with a picture', async () => {
  const first = await calls()
  await ask([outputOf(first, [text('Sunny'), { type: 'input_image', image_url: PIXEL }])], {
    previous_response_id: first.id,
  })
})
refused(
  'tool_choice allowed_tools',
  () =>
    calls({ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_weather' }] } }),
  'send the tools that are allowed',
)
refused('a custom tool', () => ask('Hi', { tools: [{ type: 'custom', name: 'code' }] }), 'a tool of type `function`')

// Pictures and files
step('a picture', () => ask([user([text('What is it?'), { type: 'input_image', image_url: PIXEL, detail: 'auto' }])]))
step('a file as file_data', () =>
  ask([user([text('What is it?'), { type: 'input_file', filename: 'note.txt', file_data: note }])]),
)
const upload = async () =>
  files.create({ file: await toFile(Buffer.from('The code is 42.'), 'note.txt'), purpose: 'user_data' })
step('files.create, retrieve and list', async () => {
  const { id, filename } = await upload()
  expect((await files.retrieve(id)).filename === filename, 'filename')
  expect(
    (await listed(files.list())).some((file) => file.id === id),
    'listed',
  )
})
step('files.content', async () => {
  const { id } = await upload()
  expect((await (await files.content(id)).text()) === 'The code is 42.', 'content')
})
step('files.delete', async () => {
  const { id } = await upload()
  expect((await files.delete(id)).deleted, 'deleted')
})
step('a file by its file_id', async () => {
  const { id } = await upload()
  await ask([user([text('What is it?'), { type: 'input_file', file_id: id }])])
})
refused(
  'a file by its address',
  () => ask([user([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])]),
  'send `file_data` or `file_id`',
)

// Tools of OpenAI's
refused(
  'web_search',
  () => ask('Hi', { tools: [{ type: 'web_search' }] }),
  'the agent’s tool `web_fetch`, an HTTP tool or an MCP server',
)
refused(
  'file_search',
  () => ask('Hi', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }),
  'an HTTP tool or an MCP server, or `input_file`',
)
refused(
  'code_interpreter and a remote mcp',
  async () => {
    await ask('Hi', { tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://example.com/mcp' }] }).then(
      () => {
        throw new Error('mcp was taken')
      },
      (error) => expect(error.status === 400, String(error)),
    )
    await ask('Hi', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] })
  },
  'an MCP server of the agent, or a tool of type `function`',
)

// Counting and compaction
step('responses.inputTokens.count', async () =>
  expect((await responses.inputTokens.count({ model, input: 'Hello' })).input_tokens > 0, 'input_tokens'),
)
step('responses.compact', async () => {
  const made = await ask('Hi')
  const { output } = await responses.compact({ model, previous_response_id: made.id })
  says(await ask([...output, user('/echo Again')]), 'Again')
})
