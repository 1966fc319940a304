/** Calls other than `responses.create`. */
import { expect } from 'vitest'
import { type Kit, type Step, user } from './kit.ts'

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
    honoured('responses.inputItems.list', '', 'What the request brought', async () => {
      const { id } = await create({ input: [user('a'), user('b')] })
      expect((await client.responses.inputItems.list(id)).data).toHaveLength(2)
    }),
    honoured('responses.inputTokens.count', '', 'An estimate', async () =>
      expect((await client.responses.inputTokens.count({ input: 'Hi' })).input_tokens).toBeGreaterThan(0),
    ),
    honoured('responses.compact', 'previous_response_id', 'The newest response of a conversation', async () => {
      const first = await create({})
      const { id } = await create({ previous_response_id: first.id })
      expect((await client.responses.compact({ model: 'any', previous_response_id: id })).object).toBe(
        'response.compaction',
      )
    }),
  ]
}

function conversationCalls({ client, honoured, conversation }: Kit): Step[] {
  return [
    honoured('responses.compact', 'input', 'Stores nothing; the item can begin a conversation', async () => {
      const { output } = await client.responses.compact({ model: 'any', input: 'Hi' })
      expect(output[0]?.type).toBe('compaction')
    }),
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
      const { data } = await client.conversations.items.create(id, {
        items: [{ type: 'message', role: 'user', content: 'two' }],
      })
      expect(data).toHaveLength(1)
    }),
    honoured('conversations.items.retrieve', '', '', async () => {
      const { id } = await conversation()
      const [item] = (await client.conversations.items.list(id)).data
      expect(await client.conversations.items.retrieve(item?.id ?? '', { conversation_id: id })).toEqual(item)
    }),
    honoured('conversations.items.delete', 'the last item', 'An output goes with its call', async () => {
      const { id } = await conversation()
      const [item] = (await client.conversations.items.list(id)).data
      await client.conversations.items.delete(item?.id ?? '', { conversation_id: id })
      expect((await client.conversations.items.list(id)).data).toEqual([])
    }),
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
    honoured('files.content', '', '', async () => {
      expect(await (await client.files.content((await upload()).id)).text()).toBe('one')
    }),
    honoured('files.delete', '', 'Messages keep the bytes that they were sent with', async () => {
      const { id } = await upload()
      expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true })
    }),
  ]
}

export const callSteps = (kit: Kit): Step[] => [...responseCalls(kit), ...conversationCalls(kit), ...fileCalls(kit)]
