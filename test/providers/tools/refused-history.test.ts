/** What some vendors refuse of a conversation with tools, and what they are sent instead. (Contract section 19.) */
import { describe, expect } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { Script, UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { look } from '../native/native-scene.ts'
import { requestFor, respond, text } from '../responses/scene.ts'
import { ask, connectionTo, failureIn, requestTo, scene } from '../scene.ts'

const rule = 'contract-19.optional-fields' as const

const called: ModelMessage[] = [
  { role: 'user', content: 'Look!' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'abcdefghi', name: 'look', arguments: '{}' }] },
  { role: 'tool', toolCallId: 'abcdefghi', content: 'seen' },
]

/** A model behind a server that answers with `server`, and what it was asked in two requests. */
async function twice(server: Script, changes: (up: { url: string }) => Partial<ModelRequest>) {
  const { up, model } = await scene({ providerRetries: 0 })
  up.always(server)
  const request = requestTo(up, changes(up))
  const ends = [await ask(model, request), await ask(model, request)].map((events) => events.at(-1))
  return { up, ends, bodies: up.calls.map(({ body }) => body) }
}

const refuse = (call: UpstreamCall, message: string) => call.error(400, { error: { message } })
const hasEnded = [{ type: 'end' }, { type: 'end' }]

describe('a user who speaks behind a result', () => {
  const messages: ModelMessage[] = [...called, { role: 'user', content: 'Stop!' }]
  const rolesIn = ({ body }: UpstreamCall): string[] => {
    const sent: { role: string }[] = body.messages
    return sent.map(({ role }) => role)
  }
  const answered = ['user', 'assistant', 'tool', 'assistant', 'user']
  const strict: Script = (call) =>
    rolesIn(call).some((role, index, roles) => role === 'user' && roles[index - 1] === 'tool')
      ? call.error(400, {
          ...{ object: 'error', message: "Unexpected role 'user' after role 'tool'" },
          ...{ type: 'invalid_request_message_order', param: null, code: '3230' },
        })
      : call.finish()

  verifies(rule, 'Mistral, which refuses that, is told that the model has the results', async () => {
    const { up, ends, bodies } = await twice(strict, ({ url }) => ({
      messages,
      provider: connectionTo(url, 'mistral'),
    }))
    expect(ends).toMatchObject(hasEnded)
    expect(up.calls.map(rolesIn)).toEqual([answered, answered])
    expect(bodies[0].messages[3].content).toMatch(/\w/)
  })

  verifies(rule, 'its models are told so elsewhere, once they have refused', async () => {
    const { up, ends } = await twice(strict, () => ({ messages }))
    expect(ends).toMatchObject(hasEnded)
    expect(up.calls.map(rolesIn)).toEqual([['user', 'assistant', 'tool', 'user'], answered, answered])
  })
})

describe('calls without tools', () => {
  const mentioned = [
    {
      type: 'function',
      function: { name: 'look', description: 'Not available now.', parameters: { type: 'object' } },
    },
  ]
  const claude: Script = (call) =>
    call.body.tools
      ? call.finish()
      : refuse(
          call,
          "litellm.UnsupportedParamsError: Anthropic doesn't support tool calling without `tools=` param specified. Pass `tools=` param OR set `litellm.modify_params = True`",
        )

  verifies(
    rule,
    'a server that refuses them is told which tools there were, and that none is to be called',
    async () => {
      const { ends, bodies } = await twice(claude, () => ({ messages: called }))
      expect(ends).toMatchObject(hasEnded)
      expect(bodies.map(({ tools, tool_choice: choice }) => [tools, choice])).toEqual([
        [undefined, undefined],
        [mentioned, 'none'],
        [mentioned, 'none'],
      ])
    },
  )

  const bedrock: Script = (call) =>
    call.body.tool_choice === 'none' ? refuse(call, "Bedrock doesn't support tool_choice=none.") : claude(call)

  verifies(rule, 'one that cannot forbid calls is not asked to', async () => {
    const { ends, bodies } = await twice(bedrock, () => ({ messages: called }))
    expect(ends).toMatchObject(hasEnded)
    expect(bodies.slice(2).map(({ tools, tool_choice: choice }) => [tools, choice])).toEqual([
      [mentioned, undefined],
      [mentioned, undefined],
    ])
  })

  verifies(rule, 'what the request itself says of tools is never dropped', async () => {
    const { up, ends } = await twice(bedrock, () => ({ messages: called, tools: [look], toolChoice: 'none' }))
    expect(ends).toMatchObject([{ type: 'failed' }, { type: 'failed' }])
    expect(up.calls).toHaveLength(2)
  })
})

describe('a long description', () => {
  const description = '🛠'.repeat(2000)
  const tools = [{ ...look, description }, look]
  /** OpenAI counts code points. */
  const limited =
    (name: string, say: (call: UpstreamCall) => unknown): Script =>
    (call) => {
      const sent: { description?: string; function?: { description: string } }[] = call.body.tools
      const lengths = sent.map((tool) => [...(tool.function?.description ?? tool.description ?? '')].length)
      const at = lengths.findIndex((length) => length > 1024)
      const message = `Invalid 'tools[${at}].${name}': string too long. Expected a string with maximum length 1024, but got a string with length ${lengths[at]} instead.`
      const param = `tools[${at}].${name}`
      return at < 0 ? say(call) : call.error(400, { error: { message, param, code: 'string_above_max_length' } })
    }

  verifies(rule, 'is cut where it is refused, between two characters, and stays whole elsewhere', async () => {
    const chat = await twice(
      limited('function.description', (call) => call.finish()),
      ({ url }) => ({ tools, provider: connectionTo(url, 'openai') }),
    )
    const responses = await twice(
      limited('description', (call) => respond(call, [text('ok')])),
      (up) => requestFor(up, { tools }),
    )
    for (const { ends, bodies } of [chat, responses]) {
      expect(ends).toMatchObject(hasEnded)
      const offered = bodies.map((body) => body.tools.map((tool: typeof body) => tool.function ?? tool))
      const cut = [{ description: `${'🛠'.repeat(1023)}…` }, { description: look.description }]
      expect(offered).toMatchObject([[{ description }, { description: look.description }], cut, cut])
    }
  })

  verifies(rule, 'that is refused however short it is fails with the words of the provider', async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.always((call) => refuse(call, "Invalid 'tools[0].function.description': string too long."))
    expect(failureIn(await ask(model, requestTo(up, { tools }))).message).toContain('string too long')
    expect(up.calls).toHaveLength(2)
  })
})
