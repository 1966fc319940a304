/** Fields of a request. */
import { expect } from 'vitest'
import { CREATE, type Kit, type Step, tools } from './kit.ts'

function honouredFields({ scene, client, create, sent, honoured, conversation, got }: Kit): Step[] {
  return [
    honoured(
      CREATE,
      'model',
      'On an agent’s base URL any name is taken; below `/api/v1/openai` it names the agent',
      () => create({ model: 'any' }),
    ),
    honoured(CREATE, 'input', 'A text or items', () => got({ input: 'Hi' }, { status: 'completed' })),
    honoured(CREATE, 'instructions', 'After the agent’s prompt, for that request alone', async () => {
      await create({ instructions: 'Rhyme.' })
      expect(JSON.stringify(sent()?.messages)).toContain('Rhyme.')
    }),
    honoured(CREATE, 'previous_response_id', 'A branch if it is not the last response', async () => {
      const { id } = await create({})
      await got({ previous_response_id: id }, { previous_response_id: id })
    }),
    honoured(CREATE, 'conversation', 'An id or `{id}`', async () => {
      const { id } = await conversation()
      await got({ conversation: id }, { conversation: { id } })
    }),
    honoured(CREATE, 'store', '`false`: nothing is stored', () =>
      got({ store: false }, { store: false, conversation: null }),
    ),
    honoured(CREATE, 'background', 'Read it later by its id', () => got({ background: true }, { background: true })),
    honoured(CREATE, 'stream', 'OpenAI’s events', async () => {
      const events = await client.responses.create({ input: 'Hi', stream: true })
      const types: string[] = []
      for await (const { type } of events) types.push(type)
      expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
    }),
    honoured(CREATE, 'max_output_tokens', '', async () => {
      await create({ max_output_tokens: 20 })
      expect(sent()?.max_tokens ?? sent()?.max_completion_tokens).toBe(20)
    }),
    honoured(CREATE, 'max_tool_calls', 'Lowers the agent’s number', () =>
      got({ max_tool_calls: 2 }, { max_tool_calls: 2 }),
    ),
    honoured(CREATE, 'text.format', '`text`, `json_object`, `json_schema`', async () => {
      scene.up.next(async (one) => {
        await one.text('{"n":1}')
        await one.finish('stop')
      })
      const format = { type: 'json_schema' as const, name: 'it', schema: { type: 'object' } }
      expect((await client.responses.parse({ input: 'Hi', text: { format } })).output_parsed).toEqual({ n: 1 })
    }),
  ]
}

function otherFields({ create, sent, honoured, ignored, refused, got }: Kit): Step[] {
  return [
    honoured(CREATE, 'reasoning.effort', '', async () => {
      await create({ reasoning: { effort: 'low' } })
      expect(sent()?.reasoning_effort).toBe('low')
    }),
    honoured(CREATE, 'parallel_tool_calls', '', () =>
      got({ parallel_tool_calls: false }, { parallel_tool_calls: false }),
    ),
    honoured(CREATE, 'tool_choice', '`auto`, `none`, `required`, or a function', () =>
      got({ tools, tool_choice: 'none' }, { tool_choice: 'none' }),
    ),
    ...['file_search', 'mcp', 'custom', 'apply_patch', 'shell', 'programmatic_tool_calling'].map((type) =>
      refused(CREATE, `tool_choice \`${type}\``, 'A function, or `required`', {
        params: { tools, tool_choice: { type, name: 'look', server_label: 'x' } },
      }),
    ),
    refused(CREATE, 'tool_choice `allowed_tools`', 'Send the tools that are allowed', {
      params: { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
    }),
    honoured(CREATE, 'metadata', 'A new conversation’s; repeated in the response', () =>
      got({ metadata: { a: 'b' } }, { metadata: { a: 'b' } }),
    ),
    honoured(CREATE, 'safety_identifier', 'The user of a new conversation', () =>
      got({ safety_identifier: 'ann' }, { safety_identifier: 'ann' }),
    ),
    honoured(CREATE, 'user', 'As `safety_identifier`, which wins', () => create({ user: 'ann' })),
    ignored('temperature', { temperature: 0.5 }, 'The agent’s counts'),
    ignored('top_p', { top_p: 0.5 }, 'The agent’s counts'),
    ignored(
      'truncation',
      { truncation: 'disabled' },
      'A conversation that is too long is cut or summarised, as with `auto`',
    ),
    ignored('prompt_cache_key', { prompt_cache_key: 'k' }, ''),
    ignored('prompt_cache_options', { prompt_cache_options: { mode: 'explicit' } }, ''),
    ignored('prompt_cache_retention', { prompt_cache_retention: '24h' }, ''),
    ignored('access_programs', { access_programs: {} }, ''),
    ignored('image', { image: {} }, ''),
    ignored('moderation', { moderation: { model: 'm' } }, ''),
    ignored('reasoning.context', { reasoning: { context: 'auto' } }, ''),
    ignored('reasoning.mode', { reasoning: { mode: 'standard' } }, ''),
    ignored('reasoning.generate_summary', { reasoning: { generate_summary: 'auto' } }, 'As `reasoning.summary`'),
    ignored('service_tier', { service_tier: 'flex' }, ''),
    ignored('stream_options', { stream_options: { include_obfuscation: false } }, ''),
    ignored('context_management', { context_management: [{ type: 'compaction' }] }, 'Set the agent’s `compaction`'),
    ignored('text.verbosity', { text: { verbosity: 'low' } }, 'Say it in `instructions`'),
    ignored('reasoning.summary', { reasoning: { summary: 'auto' } }, 'Reasoning is shown as the provider sends it'),
    ignored('include', { include: ['reasoning.encrypted_content'] }, ''),
    refused(CREATE, 'include `message.output_text.logprobs`', 'Not available', {
      params: { include: ['message.output_text.logprobs'] },
    }),
    refused(CREATE, 'top_logprobs', 'Not available', { params: { top_logprobs: 2 } }),
    refused(CREATE, 'prompt', 'The agent’s prompt, and `instructions`', {
      params: { prompt: { id: 'pmpt_1' }, input: undefined },
    }),
  ]
}

export const fieldSteps = (kit: Kit): Step[] => [...honouredFields(kit), ...otherFields(kit)]
