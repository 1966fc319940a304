/** Vercel's AI SDK over its provider for servers of this format. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai'
import { errorOf, told, versionOf } from './told.js'

const lookup = tool({
  description: 'Looks a word up.',
  inputSchema: jsonSchema({ type: 'object', properties: { word: { type: 'string' } } }),
})

const partOf = (part) =>
  part.type === 'image' ? { type: 'file', data: part.url.split(',')[1], mediaType: 'image/png' } : part
const usageOf = ({ inputTokens, outputTokens }) =>
  inputTokens === undefined ? null : { input: inputTokens, output: outputTokens }

function callOf({ baseURL, apiKey, messages, retries, headers, usage, tools }, signal) {
  const provider = createOpenAICompatible({
    name: 'greenroom',
    baseURL,
    apiKey,
    includeUsage: usage ?? false,
    supportsStructuredOutputs: true,
  })
  const system = messages.find(({ role }) => role === 'system')?.content
  return {
    model: provider('any'),
    ...(system === undefined ? {} : { instructions: system }),
    messages: messages
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => ({ role, content: Array.isArray(content) ? content.map(partOf) : content })),
    maxRetries: retries,
    headers,
    abortSignal: signal,
    ...(tools ? { tools: { lookup } } : {}),
  }
}

export function openDriver() {
  return {
    name: 'ai + @ai-sdk/openai-compatible',
    version: `${versionOf('ai')} + ${versionOf('@ai-sdk/openai-compatible')}`,
    helperName: '`await streamText().text`',
    usageBy: '`includeUsage`',
    aborts: true,
    whole: (ask, { signal } = {}) =>
      told(async (result) => {
        const answer = await generateText(callOf(ask, signal))
        result.text = answer.text
        result.finish = answer.finishReason
        result.toolCalls = answer.toolCalls.length
        result.usage = usageOf(answer.usage)
      }),
    stream: (ask, { text = () => {}, signal } = {}) =>
      told(async (result) => {
        // Its streams do not throw: what went wrong comes as a part, and is else written to the console.
        const { fullStream } = streamText({ ...callOf(ask, signal), onError() {} })
        for await (const part of fullStream) {
          if (part.type === 'text-delta') {
            result.text += part.text
            text(part.text)
          }
          if (part.type === 'tool-call') result.toolCalls += 1
          if (part.type === 'error') result.error = errorOf(part.error)
          if (part.type === 'abort') result.error = { name: 'part `abort`', status: null, message: 'aborted' }
          if (part.type === 'finish') {
            result.finish = part.finishReason
            result.usage = usageOf(part.totalUsage)
          }
        }
      }),
    structuredBy: '`Output.object()`',
    structured: (ask, schema) =>
      told(async (result) => {
        const output = Output.object({ schema: jsonSchema(schema) })
        result.text = JSON.stringify((await generateText({ ...callOf(ask), output })).output)
      }),
    loopBy: '`generateText()` with `stopWhen`',
    loop: (ask, look) =>
      told(async (result) => {
        const tools = { lookup: tool({ ...lookup, execute: ({ word }) => look(word) }) }
        result.text = (await generateText({ ...callOf(ask), tools, stopWhen: isStepCount(9) })).text
      }),
    helper: (ask) =>
      told(async (result) => {
        const answer = streamText({ ...callOf(ask), onError() {} })
        result.text = await answer.text
        result.finish = await answer.finishReason
        result.usage = usageOf(await answer.usage)
      }),
  }
}
