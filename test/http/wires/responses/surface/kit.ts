/**
 * The calls and fields of OpenAI's Responses and Conversations APIs, as its public documentation lists them, each with
 * a step of the official client that shows what becomes of it here. docs/responses-fields.md is made of the steps.
 */
import type OpenAI from 'openai'
import { expect } from 'vitest'
import type { openResponsesScene } from '../responses-scene.ts'

export type Outcome = 'honoured' | 'ignored' | 'refused'

export interface Step {
  call: string
  /** The field, or the case. */
  field: string
  outcome: Outcome
  /** What happens, or what to use instead. */
  words: string
  run(): Promise<void>
}

export type Scene = Awaited<ReturnType<typeof openResponsesScene>>
type Params = Record<string, unknown>

export const CREATE = 'responses.create'
export const ITEM = 'responses.create, input'
export const TOOL = 'responses.create, tools'
export const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }]
export const user = (content: unknown) => ({ role: 'user', content })
export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

interface Answered {
  response: globalThis.Response
}

/** Returns the step of a call whose answer names a field or parameter as ignored. */
export const passed = (call: string, field: string, words: string, run: () => Promise<Answered>): Step => ({
  call,
  field,
  outcome: 'ignored',
  words,
  run: async () => {
    const { response } = await run()
    expect((response.headers.get('x-greenroom-ignored') ?? '').split(',')).toContain(field)
  },
})

/** The client's calls, and the kinds of steps. */
export type Kit = ReturnType<typeof kitOf>

export function kitOf(scene: Scene) {
  const { client } = scene
  // Fields that the client's types do not have are sent, too.
  const create = (params: Params): Promise<OpenAI.Responses.Response> =>
    client.responses.create({ input: 'Hi', ...params } as OpenAI.Responses.ResponseCreateParamsNonStreaming)
  const named = async (params: Params): Promise<string[]> => {
    const { response } = await client.responses
      .create({ input: 'Hi', ...params } as OpenAI.Responses.ResponseCreateParamsNonStreaming)
      .withResponse()
    return (response.headers.get('x-greenroom-ignored') ?? '').split(',')
  }
  const sent = () => scene.up.calls.at(-1)?.body
  const asksForCall = () =>
    scene.up.next(async (one) => {
      await one.toolCall({ name: 'look', arguments: '{}', id: 'c1' })
      await one.finish('tool_calls')
    })
  const called = async () => {
    asksForCall()
    return await create({ tools })
  }
  const callIn = ({ output }: OpenAI.Responses.Response) => {
    const call = output.find(({ type }) => type === 'function_call')
    return call?.type === 'function_call' ? call.call_id : ''
  }

  const honoured = (call: string, field: string, words: string, run: () => Promise<unknown>): Step => ({
    call,
    field,
    outcome: 'honoured',
    words,
    run: async () => {
      await run()
    },
  })
  const ignored = (field: string, params: Params, words: string, call = CREATE): Step => ({
    call,
    field,
    outcome: 'ignored',
    words,
    run: async () => expect(await named(params)).toContain(field),
  })
  const refused = (
    call: string,
    field: string,
    words: string,
    {
      params = {},
      run = () => create(params),
      status = 400,
    }: { params?: Params; run?: () => Promise<unknown>; status?: number },
  ): Step => ({
    call,
    field,
    outcome: 'refused',
    words,
    run: async () => expect(await run().catch((error: unknown) => error)).toMatchObject({ status }),
  })
  const tool = (type: string, words: string) => refused(TOOL, type, words, { params: { tools: [{ type }] } })
  const foreign = (type: string) =>
    ignored(`input.${type}`, { input: [{ type, id: 'x' }, user('Hi')] }, 'Passed over', ITEM)
  const conversation = () => client.conversations.create({ items: [{ type: 'message', role: 'user', content: 'one' }] })
  const got = async (params: Params, expected: object) => expect(await create(params)).toMatchObject(expected)
  return {
    scene,
    client,
    create,
    sent,
    called,
    callIn,
    honoured,
    ignored,
    refused,
    tool,
    foreign,
    conversation,
    got,
  }
}
