/** Calls other than `responses.create`. */
import { expect } from 'vitest'
import { type Kit, passed, type Step, user } from './kit.ts'

const include = ['reasoning.encrypted_content' as const]

function responseCalls({ client, create, honoured, refused }: Kit): Step[] {
  return [
    honoured('responses.retrieve', '', 'Of every API that began the reply', async () => {
      const { id } = await create({})
      expect((await client.responses.retrieve(id)).id).toBe(id)
    }),
    honoured('responses.retrieve', 'stream, starting_after', 'The same events under the same numbers', async () => {
      const { id } = await create({})
      const events = await client.responses.retrieve(id, { stream: true, starting_after: 1 })
      for await (const { sequence_number: n } of events) expect(n).toBeGreaterThan(1)
    }),
    passed('responses.retrieve', 'include', '', async () =>
      client.responses.retrieve((await create({})).id, { include }).withResponse(),
    ),
    passed('responses.retrieve', 'include_obfuscation', 'Streams have none', async () => {
      const { id } = await create({})
      return await client.responses.retrieve(id, { stream: true, include_obfuscation: false }).withResponse()
    }),
    honoured('responses.parse, responses.stream', '', 'The helpers of the client', async () => {
      expect((await client.responses.stream({ input: 'Hi' }).finalResponse()).output_text).toBe('ok')
      expect((await client.responses.parse({ input: 'Hi' })).output_text).toBe('ok')
    }),
    honoured(
      'responses.cancel',
      '',
      'Also of a queued response, and of one that is not in the background',
      async () => {
        const { id } = await create({})
        expect((await client.responses.cancel(id)).status).toBe('completed')
      },
    ),
    honoured('responses.delete', '', 'The last response of a conversation', async () => {
      await client.responses.delete((await create({})).id)
    }),
    refused('responses.delete', 'of a response that others follow', 'Delete those first', {
      run: async () => {
        const { id } = await create({})
        await create({ previous_response_id: id })
        return await client.responses.delete(id)
      },
      status: 409,
    }),
    honoured('responses.inputItems.list', 'limit, after, order', 'What the request brought', async () => {
      const { id } = await create({ input: [user('a'), user('b')] })
      expect((await client.responses.inputItems.list(id, { order: 'asc', limit: 2 })).data).toHaveLength(2)
    }),
    refused('responses.inputItems.list', 'include', 'Lists refuse parameters that they do not have', {
      run: async () => await client.responses.inputItems.list((await create({})).id, { include }),
    }),
  ]
}

function countingCalls({ client, create, honoured }: Kit): Step[] {
  const compact = (more: object) => client.responses.compact({ model: 'any', input: 'Hi', ...more }).withResponse()
  return [
    honoured(
      'responses.inputTokens.count',
      `model, input, instructions, conversation, previous_response_id, tools, tool_choice, text, reasoning, parallel_tool_calls`,
      'An estimate of what `responses.create` would send',
      async () => expect((await client.responses.inputTokens.count({ input: 'Hi' })).input_tokens).toBeGreaterThan(0),
    ),
    ...['truncation', 'personality'].map((field) =>
      passed('responses.inputTokens.count', field, '', () =>
        client.responses.inputTokens.count({ input: 'Hi', [field]: 'auto' }).withResponse(),
      ),
    ),
    honoured('responses.compact', 'model, previous_response_id', 'The newest response of a conversation', async () => {
      const first = await create({})
      const { id } = await create({ previous_response_id: first.id })
      expect((await client.responses.compact({ model: 'any', previous_response_id: id })).object).toBe(
        'response.compaction',
      )
    }),
    honoured(
      'responses.compact',
      'input, instructions',
      'Stores nothing; the item can begin a conversation',
      async () => {
        const { output } = await client.responses.compact({ model: 'any', input: 'Hi', instructions: 'Rhyme.' })
        expect(output[0]?.type).toBe('compaction')
      },
    ),
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'service_tier', 'image'].map((field) =>
      passed('responses.compact', field, '', () => compact({ [field]: 'auto' })),
    ),
  ]
}

function conversationCalls({ client, honoured, refused, conversation }: Kit): Step[] {
  const oneItem = { items: [{ type: 'message' as const, role: 'user' as const, content: 'two' }] }
  return [
    honoured(
      'conversations.create',
      'items, metadata',
      'Below `/api/v1/openai` also `model`; without it, the only agent, or that of the first response',
      async () => {
        const { id } = await client.conversations.create({ metadata: { a: 'b' } })
        expect(id).toMatch(/^conv_/)
      },
    ),
    honoured('conversations.retrieve', '', '', async () => {
      const { id } = await conversation()
      expect((await client.conversations.retrieve(id)).id).toBe(id)
    }),
    honoured('conversations.update', 'metadata', 'Replaced as a whole', async () => {
      const { id } = await conversation()
      expect((await client.conversations.update(id, { metadata: { b: 'c' } })).metadata).toEqual({ b: 'c' })
    }),
    honoured('conversations.delete', '', '', async () => {
      const { id } = await conversation()
      expect((await client.conversations.delete(id)).deleted).toBe(true)
    }),
    honoured('conversations.items.list', 'limit, after, order', '', async () => {
      const { id } = await conversation()
      expect((await client.conversations.items.list(id, { order: 'asc', limit: 1 })).data).toHaveLength(1)
    }),
    honoured('conversations.items.create', 'items', 'After the last item', async () => {
      const { id } = await conversation()
      const { data } = await client.conversations.items.create(id, oneItem)
      expect(data).toHaveLength(1)
    }),
    refused('conversations.items.list', 'include', 'Lists refuse parameters that they do not have', {
      run: async () => await client.conversations.items.list((await conversation()).id, { include }),
    }),
    passed('conversations.items.create', 'include', '', async () => {
      const { id } = await conversation()
      return await client.conversations.items.create(id, { ...oneItem, include }).withResponse()
    }),
    passed('conversations.items.retrieve', 'include', '', async () => {
      const { id } = await conversation()
      const [item] = (await client.conversations.items.list(id)).data
      const asked = { conversation_id: id, include }
      return await client.conversations.items.retrieve(item?.id ?? '', asked).withResponse()
    }),
    honoured('conversations.items.retrieve', 'conversation_id', '', async () => {
      const { id } = await conversation()
      const [item] = (await client.conversations.items.list(id)).data
      expect(await client.conversations.items.retrieve(item?.id ?? '', { conversation_id: id })).toEqual(item)
    }),
    honoured(
      'conversations.items.delete',
      'conversation_id',
      'The last item alone; an output goes with its call',
      async () => {
        const { id } = await conversation()
        const [item] = (await client.conversations.items.list(id)).data
        await client.conversations.items.delete(item?.id ?? '', { conversation_id: id })
        expect((await client.conversations.items.list(id)).data).toEqual([])
      },
    ),
  ]
}

function fileCalls({ client, honoured, refused }: Kit): Step[] {
  const upload = (name = 'a.txt', content = 'one') =>
    client.files.create({ file: new File([content], name), purpose: 'user_data' })
  return [
    honoured(
      'files.create',
      'file, purpose',
      'PDF, Word, Excel, text, CSV, Markdown and pictures, recognized by their bytes',
      async () => {
        expect(await upload()).toMatchObject({ object: 'file', bytes: 3, filename: 'a.txt', purpose: 'user_data' })
      },
    ),
    honoured('files.create', 'expires_after', '', async () => {
      const file = new File(['two'], 'b.txt')
      const lifetime = { anchor: 'created_at' as const, seconds: 3600 }
      const { created_at, expires_at } = await client.files.create({
        file,
        purpose: 'assistants',
        expires_after: lifetime,
      })
      expect(expires_at).toBe(created_at + 3600)
    }),
    refused('files.create', 'another type of file', 'The error lists what is taken', {
      run: () => upload('a.exe', 'MZ\0\0'),
    }),
    honoured('files.list', 'purpose, limit, after, order', '', async () => {
      const { id } = await upload()
      expect((await client.files.list({ limit: 1, order: 'desc', purpose: 'user_data' })).data).toMatchObject([{ id }])
    }),
    honoured('files.retrieve', '', '', async () => {
      const file = await upload()
      expect(await client.files.retrieve(file.id)).toEqual(file)
    }),
    honoured('files.waitForProcessing', '', 'A helper of the client: files are processed at once', async () => {
      expect((await client.files.waitForProcessing((await upload()).id)).status).toBe('processed')
    }),
    honoured('files.content', '', '', async () => {
      expect(await (await client.files.content((await upload()).id)).text()).toBe('one')
    }),
    honoured('files.delete', '', 'Messages keep the bytes that they were sent with', async () => {
      const { id } = await upload()
      expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true })
    }),
  ]
}

export const callSteps = (kit: Kit): Step[] => [
  ...responseCalls(kit),
  ...countingCalls(kit),
  ...conversationCalls(kit),
  ...fileCalls(kit),
]
