/** Steps of text generation, structured outputs and streaming. */
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { ask, client, eventsOf, expect, model, refused, responses, says, step, text, user } from './kit.js'

// Text generation
step('a text', async () => says(await ask('/echo Hello'), 'Hello'))
step('messages', async () => says(await ask([user('/echo Hello')]), 'Hello'))
step('instructions', async () => says(await ask('Who?', { instructions: 'You are a pirate.' }), 'pirate'))
step('a developer message', async () =>
  says(await ask([{ role: 'developer', content: 'Be a pirate.' }, user('Who?')]), 'pirate'),
)
step('a system message', async () =>
  says(await ask([{ role: 'system', content: 'Be a pirate.' }, user('Who?')]), 'pirate'),
)
step('content in parts', async () => says(await ask([user([text('/echo '), text('Hello')])]), 'Hello'))
step('a history of both roles', async () =>
  says(
    await ask([user('Knock knock.'), { role: 'assistant', content: 'Who is there?' }, user('/echo Orange')]),
    'Orange',
  ),
)
step('max_output_tokens', async () => {
  const { status, incomplete_details } = await ask('/long 500', { max_output_tokens: 16 })
  expect(status === 'incomplete' && incomplete_details.reason === 'max_output_tokens', status)
})
step('temperature and top_p', () => ask('Hi', { temperature: 0.2, top_p: 0.9 }))
step('metadata', async () =>
  expect((await ask('Hi', { metadata: { topic: 'demo' } })).metadata.topic === 'demo', 'metadata'),
)
step('store: false', async () => expect((await ask('Hi', { store: false })).store === false, 'store'))
step('safety_identifier', async () =>
  expect((await ask('Hi', { safety_identifier: 'u1' })).safety_identifier === 'u1', 'user'),
)
step('user', () => ask('Hi', { user: 'u1' }))
step('truncation, prompt_cache_key and service_tier', () =>
  ask('Hi', { truncation: 'auto', prompt_cache_key: 'k', service_tier: 'auto' }),
)
step('include', () => ask('Hi', { include: ['reasoning.encrypted_content'] }))
step('usage', async () => {
  const { usage } = await ask('Hi')
  expect(usage.input_tokens > 0 && usage.total_tokens === usage.input_tokens + usage.output_tokens, 'usage')
})
step('reasoning.effort', () => ask('Hi', { reasoning: { effort: 'low' } }))
step('text.verbosity', () => ask('Hi', { text: { verbosity: 'low' } }))
step('models.list and retrieve', async () => {
  const { data } = await client.models.list()
  await client.models.retrieve(data[0].id)
})
step('an unknown model is 404', async () => {
  const error = await responses.create({ model: 'no-such-model', input: 'Hi' }).catch((reason) => reason)
  expect(error.status === 404, String(error))
})
refused(
  'a stored prompt',
  () => ask('Hi', { prompt: { id: 'pmpt_1' } }),
  'the agent has the prompt; send `instructions`',
)
refused('logprobs', () => ask('Hi', { top_logprobs: 2 }), 'not available')

// Structured outputs
step('responses.parse', async () => {
  const format = zodTextFormat(z.object({ answer: z.number() }), 'answer')
  const { output_parsed } = await responses.parse({ model, input: '/echo {"answer":42}', text: { format } })
  expect(output_parsed?.answer === 42, 'output_parsed')
})
step('json_object', async () => {
  const response = await ask('/echo {"a":1}', { text: { format: { type: 'json_object' } } })
  expect(JSON.parse(response.output_text).a === 1, response.output_text)
})

// Streaming
step('events in their order', async () => {
  const types = (await eventsOf(await ask('/echo one two', { stream: true }))).map(({ type }) => type)
  const wanted = [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]
  const seen = types.filter((type, index) => types.indexOf(type) === index)
  expect(seen.join() === wanted.map((type) => `response.${type}`).join(), seen.join())
})
step('responses.stream', async () =>
  says(await responses.stream({ model, input: '/echo Hello' }).finalResponse(), 'Hello'),
)
step('sequence numbers', async () => {
  const events = await eventsOf(await ask('Hi', { stream: true }))
  expect(
    events.every(({ sequence_number }, index) => sequence_number === index),
    'numbers',
  )
})
step('stream_options', async () => {
  await eventsOf(await ask('Hi', { stream: true, stream_options: { include_obfuscation: false } }))
})
step('a stream that is left', async () => {
  const stream = await ask('/slow 30', { stream: true })
  let id = ''
  for await (const event of stream) {
    id = event.response?.id ?? id
    if (event.type === 'response.output_text.delta') break
  }
  await responses.cancel(id)
})
