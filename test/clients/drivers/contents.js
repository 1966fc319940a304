/**
 * Pictures, files and schemas as each client's users send them. Every function asks once, stateless unless the client knows
 * sessions alone, and resolves to the answer's text. `contents`: the message, in the client's own form.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from '@openai/agents'
import { generateText, jsonSchema, Output } from 'ai'
import OpenAI from 'openai'
import { createClient, filePart } from '../../../packages/client/src/index.ts'
import { versionOf } from './told.js'

setTracingDisabled(true)

const text = 'Look'
const dataUrl = ({ bytes, mediaType }) => `data:${mediaType};base64,${bytes.toString('base64')}`
const image = (url) => [
  { type: 'text', text },
  { type: 'image_url', image_url: { url } },
]
const file = (one) => [
  { type: 'text', text },
  { type: 'file', file: { filename: one.filename, file_data: dataUrl(one) } },
]
const responseFormat = (schema) => ({ type: 'json_schema', json_schema: { name: 'place', strict: true, schema } })

const openai = (baseURL) => new OpenAI({ baseURL, apiKey: 'k', maxRetries: 0 })
async function complete({ baseURL }, content, more = {}) {
  const body = { model: 'any', messages: [{ role: 'user', content }], ...more }
  return (await openai(baseURL).chat.completions.create(body)).choices[0].message.content
}

async function generate({ baseURL }, content, more = {}) {
  const supportedUrls = () => ({ 'image/*': [/^https:/] })
  const settings = { name: 'greenroom', baseURL, apiKey: 'k', supportsStructuredOutputs: true, supportedUrls }
  const model = createOpenAICompatible(settings)('any')
  return await generateText({ model, messages: [{ role: 'user', content }], maxRetries: 0, ...more })
}
const aiFile = ({ mediaType, filename }, data) => [
  { type: 'text', text },
  { type: 'file', data, mediaType, ...(filename && { filename }) },
]

const chain = ({ baseURL }) => new ChatOpenAI({ model: 'any', apiKey: 'k', maxRetries: 0, configuration: { baseURL } })
const invoke = async (ask, content) => (await chain(ask).invoke([new HumanMessage({ content })])).text

async function runAgent({ baseURL }, contents, more = {}) {
  const model = new OpenAIChatCompletionsModel(openai(baseURL), 'any')
  const content = [{ type: 'input_text', text }, ...contents]
  return (await run(new Agent({ name: 'a', model, ...more }), [{ role: 'user', content }])).finalOutput
}

async function say({ server, agentId }, content) {
  let said = ''
  for await (const event of createClient({ baseUrl: server }).agent(agentId).session().send(content)) {
    if (event.type === 'text') said += event.text
  }
  return said
}

async function place({ server, agentId }, schema) {
  const body = { messages: [{ role: 'user', content: text }], response_format: responseFormat(schema) }
  const path = { agent_id: agentId }
  const client = createClient({ baseUrl: server })
  const answer = await client.POST('/api/v1/agents/{agent_id}/deploy/chat/completions', { params: { path }, body })
  return answer.choices[0].message.content
}

/** `how`: what its users write, for the table. */
export const clients = [
  {
    name: 'openai',
    version: versionOf('openai'),
    how: { url: '`image_url`', data: '`image_url`', pdf: '`file`', schema: '`response_format`' },
    url: (ask, url) => complete(ask, image(url)),
    data: (ask, one) => complete(ask, image(dataUrl(one))),
    pdf: (ask, one) => complete(ask, file(one)),
    schema: (ask, schema) => complete(ask, text, { response_format: responseFormat(schema) }),
  },
  {
    name: 'ai + @ai-sdk/openai-compatible',
    version: `${versionOf('ai')} + ${versionOf('@ai-sdk/openai-compatible')}`,
    how: {
      url: 'part `file`, with `supportedUrls`',
      data: 'part `file`',
      pdf: 'part `file`',
      schema: '`Output.object()`',
    },
    url: async (ask, url) => (await generate(ask, aiFile({ mediaType: 'image/png' }, new URL(url)))).text,
    data: async (ask, one) => (await generate(ask, aiFile(one, one.bytes))).text,
    pdf: async (ask, one) => (await generate(ask, aiFile(one, one.bytes))).text,
    schema: async (ask, schema) =>
      JSON.stringify((await generate(ask, text, { output: Output.object({ schema: jsonSchema(schema) }) })).output),
  },
  {
    name: '@langchain/openai',
    version: versionOf('@langchain/openai'),
    how: { url: '`image_url`', data: '`image_url`', pdf: '`file`', schema: '`withStructuredOutput()`' },
    url: (ask, url) => invoke(ask, image(url)),
    data: (ask, one) => invoke(ask, image(dataUrl(one))),
    pdf: (ask, one) => invoke(ask, file(one)),
    schema: async (ask, schema) =>
      JSON.stringify(
        await chain(ask).withStructuredOutput(schema, { name: 'place', method: 'jsonSchema' }).invoke(text),
      ),
  },
  {
    name: '@openai/agents',
    version: versionOf('@openai/agents'),
    how: { url: '`input_image`', data: '`input_image`', pdf: '`input_file`', schema: '`outputType`' },
    url: (ask, url) => runAgent(ask, [{ type: 'input_image', image: url }]),
    data: (ask, one) => runAgent(ask, [{ type: 'input_image', image: dataUrl(one) }]),
    pdf: (ask, one) => runAgent(ask, [{ type: 'input_file', file: dataUrl(one), filename: one.filename }]),
    schema: async (ask, schema) =>
      JSON.stringify(
        await runAgent(ask, [], { outputType: { type: 'json_schema', name: 'place', strict: true, schema } }),
      ),
  },
  {
    name: '@greenroom/client',
    version: '',
    how: { url: '`image_url`', data: '`filePart()`', pdf: '`filePart()`', schema: '`response_format`' },
    url: (ask, url) => say(ask, image(url)),
    data: async (ask, one) => say(ask, [{ type: 'text', text }, await filePart(blobOf(one))]),
    pdf: async (ask, one) => say(ask, [{ type: 'text', text }, await filePart(blobOf(one), { name: one.filename })]),
    schema: place,
  },
]

const blobOf = ({ bytes, mediaType }) => new Blob([bytes], { type: mediaType })

export const openDriver = () => clients
