/** The client of the steps, and what they are made of. */
import OpenAI from 'openai'

export const [baseURL, apiKey, model] = process.argv.slice(2)
export const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
export const { responses, conversations, files } = client

export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const note = `data:text/plain;base64,${Buffer.from('The code is 42.').toString('base64')}`
export const tool = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}
export const asksForTool = '/tool get_weather {"city":"Paris"}'
export const user = (content) => ({ role: 'user', content })
export const text = (words) => ({ type: 'input_text', text: words })

export const ask = (input, more = {}) => responses.create({ model, input, ...more })
export const callIn = ({ output }) => output.find(({ type }) => type === 'function_call')
export const calls = (more = {}) => ask(asksForTool, { tools: [tool], ...more })
export const outputOf = (response, output = 'Sunny') => ({
  type: 'function_call_output',
  call_id: callIn(response).call_id,
  output,
})
export const listed = async (page) => (await page).data
export const textsOf = (items) => items.flatMap(({ content = [] }) => content.map((part) => part.text ?? part.type))
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export function expect(condition, words) {
  if (!condition) throw new Error(words)
}
/** Expects a text in an answer. */
export const says = (response, words) =>
  expect(response.output_text.includes(words), `no ${words} in ${response.output_text}`)

export async function settled(id) {
  for (;;) {
    const response = await responses.retrieve(id)
    if (response.status !== 'queued' && response.status !== 'in_progress') return response
    await pause(100)
  }
}

export async function eventsOf(stream) {
  const events = []
  for await (const event of stream) events.push(event)
  return events
}

export const steps = []
export const step = (name, run) => steps.push({ name, run })
/** A step that is refused on purpose: the error names the field or says what to do. */
export const refused = (name, run, words) => steps.push({ name, run, words })
