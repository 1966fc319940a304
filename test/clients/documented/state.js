/** Steps of conversation state, stored responses and the background mode. */
import {
  ask,
  conversations,
  eventsOf,
  expect,
  listed,
  refused,
  responses,
  says,
  settled,
  step,
  textsOf,
  user,
} from './kit.js'

// Conversation state
step('previous_response_id', async () => {
  const first = await ask('My name is Ann.')
  const second = await ask('Who am I?', { previous_response_id: first.id })
  expect(second.previous_response_id === first.id, 'previous_response_id')
})
step('previous_response_id with other instructions', async () => {
  const first = await ask('/echo Hi', { instructions: 'You are a pirate.' })
  const second = await ask('Who?', { previous_response_id: first.id, instructions: 'You are a robot.' })
  says(second, 'robot')
  expect(!second.output_text.includes('pirate'), second.output_text)
})
step('two responses behind one, one after the other', async () => {
  const first = await ask('Hi')
  for (const input of ['/echo A', '/echo B']) says(await ask(input, { previous_response_id: first.id }), input.at(-1))
})
step('two responses behind one at once', async () => {
  const first = await ask('Hi')
  const inputs = ['/echo A', '/echo B', '/echo C']
  const all = await Promise.all(inputs.map((input) => ask(input, { previous_response_id: first.id })))
  all.forEach((response, index) => {
    says(response, inputs[index].at(-1))
  })
})
step('output items in the next input', async () => {
  const first = await ask('Hi')
  says(await ask([user('Hi'), ...first.output, user('/echo Again')]), 'Again')
})
step('conversations.create', async () => expect((await conversations.create()).object === 'conversation', 'object'))
step('conversations.create with items and metadata', async () => {
  const items = [{ type: 'message', ...user('Hello') }]
  const { id, metadata } = await conversations.create({ items, metadata: { topic: 'demo' } })
  expect(metadata.topic === 'demo' && textsOf(await listed(conversations.items.list(id))).join() === 'Hello', 'items')
})
step('a response in a conversation', async () => {
  const { id } = await conversations.create()
  await ask('One', { conversation: id })
  expect((await ask('Two', { conversation: { id } })).conversation.id === id, 'conversation')
  expect((await listed(conversations.items.list(id, { order: 'asc' }))).length === 4, 'four items')
})
step('conversations.retrieve', async () => {
  const { id } = await conversations.create()
  expect((await conversations.retrieve(id)).id === id, 'id')
})
step('conversations.update', async () => {
  const { id } = await conversations.create()
  expect((await conversations.update(id, { metadata: { topic: 'x' } })).metadata.topic === 'x', 'metadata')
})
step('conversations.delete', async () => {
  const { id } = await conversations.create()
  expect((await conversations.delete(id)).deleted, 'deleted')
  expect((await conversations.retrieve(id).catch((reason) => reason)).status === 404, '404')
})
step('conversations.items.create', async () => {
  const { id } = await conversations.create()
  const { data } = await conversations.items.create(id, { items: [{ type: 'message', ...user('Hi') }] })
  expect(textsOf(data).join() === 'Hi', 'items')
})
step('conversations.items.retrieve', async () => {
  const { id } = await conversations.create({ items: [{ type: 'message', ...user('Hi') }] })
  const [item] = await listed(conversations.items.list(id))
  expect((await conversations.items.retrieve(item.id, { conversation_id: id })).id === item.id, 'id')
})
step('conversations.items.delete', async () => {
  const { id } = await conversations.create({ items: [{ type: 'message', ...user('Hi') }] })
  const [item] = await listed(conversations.items.list(id))
  await conversations.items.delete(item.id, { conversation_id: id })
  expect((await listed(conversations.items.list(id))).length === 0, 'gone')
})
step('pages of items', async () => {
  const items = ['a', 'b', 'c'].map((one) => ({ type: 'message', ...user(one) }))
  const { id } = await conversations.create({ items })
  const texts = []
  for await (const item of conversations.items.list(id, { limit: 2, order: 'asc' })) texts.push(...textsOf([item]))
  expect(texts.join() === 'a,b,c', texts.join())
})

// Stored responses
step('responses.retrieve', async () => {
  const made = await ask('/echo Hello')
  says(await responses.retrieve(made.id), 'Hello')
})
step('responses.inputItems.list', async () => {
  const made = await ask('Hello')
  expect(textsOf(await listed(responses.inputItems.list(made.id))).join() === 'Hello', 'items')
})
step('input items of several messages', async () => {
  const first = await ask('Hi')
  const made = await ask([user('One'), user('Two')], { previous_response_id: first.id })
  const items = await listed(responses.inputItems.list(made.id, { order: 'asc' }))
  expect(textsOf(items).join() === 'One,Two', textsOf(items).join())
})
step('responses.delete', async () => {
  const made = await ask('Hi')
  await responses.delete(made.id)
  expect((await responses.retrieve(made.id).catch((reason) => reason)).status === 404, '404')
})
refused(
  'responses.delete of one that others follow',
  async () => {
    const first = await ask('Hi')
    await ask('More', { previous_response_id: first.id })
    await responses.delete(first.id)
  },
  'delete those first',
)

// Background mode
step('background', async () => {
  const made = await ask('/echo Hello', { background: true })
  expect(made.status === 'queued' || made.status === 'in_progress', made.status)
  says(await settled(made.id), 'Hello')
})
step('a stream in the background, taken up again', async () => {
  const stream = await ask('/echo one two three', { background: true, stream: true })
  let [id, last] = ['', -1]
  for await (const event of stream) {
    id = event.response?.id ?? id
    last = event.sequence_number
    if (event.type === 'response.output_text.delta') break
  }
  const rest = await eventsOf(await responses.retrieve(id, { stream: true, starting_after: last }))
  expect(rest[0].sequence_number === last + 1 && rest.at(-1).type === 'response.completed', 'rest')
})
step('responses.cancel', async () => {
  const made = await ask('/slow 600', { background: true })
  await responses.cancel(made.id)
  expect((await settled(made.id)).status === 'cancelled', 'cancelled')
})
