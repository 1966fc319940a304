/** Events and objects against the types of the `openai` package and against Open Responses (contract section 24). */
import type OpenAI from 'openai'
import { afterAll, expect } from 'vitest'
import type { ResponseObject } from '../../../../src/http/wires/responses/output/response-object.ts'
import { call, openWaitingScene } from '../../../features/approvals/routes/waiting-scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { asks } from '../../tool-scene.ts'
import { eventFaults, responseFaults } from './open-responses.ts'
import { wholeStream } from './responses-scene.ts'

type Theirs = OpenAI.Responses.Response
/**
 * `error` has codes of ours; tools, their choice and the text's form are as they were sent; `usage` is null on OpenAI's own
 * wire while a response runs, though the package says that it is absent.
 */
type Own = Omit<ResponseObject, 'error' | 'tools' | 'tool_choice' | 'text' | 'usage'>
/** Compiles only while what the object holds is what the package's own types say. */
true satisfies Own extends Pick<Theirs, keyof Own & keyof Theirs> ? true : false
true satisfies NonNullable<ResponseObject['usage']> extends OpenAI.Responses.ResponseUsage ? true : false
/** What the package computes itself, or says of accounts of OpenAI's. */
type Computed = 'output_text' | 'access_programs'
type Required<T> = { [Key in keyof T]-?: undefined extends T[Key] ? never : Key }[keyof T]
true satisfies Exclude<Required<Theirs>, Computed> extends keyof ResponseObject ? true : false

const scene = await openWaitingScene()
afterAll(scene.close)
const responses = `${scene.agent}/deploy/responses`
const open = (body: object) => openSse(`${scene.app.url}${responses}`, { stream: true, input: 'Hi', ...body })
const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }]

async function faultsOf(body: object): Promise<{ last: string | undefined; kinds: string[]; faults: string[] }> {
  const events = await wholeStream(await open(body))
  const last = events.at(-1)
  const stored = last?.response?.store ? (await scene.call('GET', `${responses}/${last.response.id}`)).json : null
  return {
    last: last?.type,
    kinds: events.map(({ type }) => type),
    faults: [...events.flatMap(eventFaults), ...(stored === null ? [] : responseFaults(stored))],
  }
}

verifies('contract-24.events', 'every kind of event and of end is one of Open Responses', async () => {
  scene.up.next(async (one) => {
    await one.delta({ reasoning_content: 'Let me see.' })
    await one.text('Hello')
    await one.finish('stop')
  })
  const fields = { safety_identifier: 'ann', metadata: { a: 'b' }, max_output_tokens: 50, reasoning: { effort: 'low' } }
  expect(await faultsOf(fields)).toMatchObject({ last: 'response.completed', faults: [] })
  scene.says('stored nowhere')
  expect(await faultsOf({ store: false, tools, tool_choice: 'auto' })).toMatchObject({ faults: [] })
  scene.up.next(asks('Looking. ', call('weather', 'c1', '{"city":"Bonn"}')))
  const called = await faultsOf({
    tools,
    tool_choice: { type: 'function', name: 'weather' },
    parallel_tool_calls: false,
  })
  expect(called).toMatchObject({ last: 'response.completed', faults: [] })
  expect(called.kinds).toContain('response.function_call_arguments.done')
  scene.up.next(asks('', call('pay', 'c2', '{"amount":5}')))
  expect(await faultsOf({ include_actions: true })).toMatchObject({ last: 'response.completed', faults: [] })
  scene.up.next(async (one) => {
    await one.text('cut')
    await one.finish('length')
  })
  expect(await faultsOf({ text: { format: { type: 'json_object' } } })).toMatchObject({
    last: 'response.incomplete',
    faults: [],
  })
  scene.up.next((one) => one.error(401, { error: { message: 'no' } }))
  expect(await faultsOf({})).toMatchObject({ last: 'response.failed', faults: [] })
})

verifies('contract-24.object', 'sampling is the agent’s, and what was sent stands in the object', async () => {
  const sampling = async (config: object) => {
    expect((await scene.call('PUT', scene.agent, { generationConfig: config })).status).toBe(200)
    scene.says('Fine.')
    const body = { input: 'Hi', safety_identifier: 'ann', reasoning: { effort: 'high' } }
    const { json } = await scene.call('POST', responses, body)
    expect((await scene.call('GET', `${responses}/${json.id}`)).json).toEqual(json)
    return [json.temperature, json.top_p, json.safety_identifier, json.reasoning]
  }
  const reasoning = { effort: 'high', summary: null }
  expect(await sampling({ temperature: 0.2, topP: 0.9 })).toEqual([0.2, 0.9, 'ann', reasoning])
  expect(await sampling({})).toEqual([1, 1, 'ann', reasoning])
})
