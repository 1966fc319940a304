/** Calls of MCP servers that each user signs in at (contract section 27). They wait for the sign-in as for an answer. */
import type { Again, ToolAnswer } from '../../actors/ports/index.ts'
import type { Challenge, McpAnswer, McpServer } from '../mcp/mcp.ts'
import { mcpTool, type NameTool } from '../naming/tool-names.ts'
import type { Once, Tool } from '../offered.ts'
import type { ToolboxWorld } from '../toolbox.ts'
import { type AskingCall, addressOf, makeAskingCall, moved } from './asking-call.ts'
import { type Grant, withGrant } from './grants.ts'
import { readSignInState, type SignInState } from './sign-in-state.ts'

type World = Pick<ToolboxWorld, 'mcp' | 'values' | 'states' | 'depth' | 'grants'>

/** Returns the mark of a call that waited for a sign-in: it was not sent, so its server gets no answers. */
const markOf = (server: McpServer): string => `sign-in ${addressOf(server)}`
const isMark = ({ of }: Again): boolean => of.startsWith('sign-in ')

/** The key of the sign-in among the questions of a call. */
export const SIGN_IN_KEY = 'sign_in'

/** Makes a call with its user's grant. Where there is none, or the server wants another one, the call waits. */
export async function makeSignedInCall(world: World, call: AskingCall): Promise<ToolAnswer> {
  const { server, once } = call
  const { again } = once
  const waited = again && isMark(again) ? again : null
  if (waited) {
    const refusal = refusalOf(server, waited)
    if (refusal !== null) return refusal
  }
  const inner = waited ? stateOf(world, waited).again : again
  const send = async (grant: Grant): Promise<ToolAnswer & Pick<McpAnswer, 'challenge'>> =>
    await makeAskingCall(world, { ...call, server: withGrant(server, grant), once: { ...once, again: inner } })
  const keep = inner && { again: kept(inner) }
  try {
    const grant = await find(world, server)
    if (grant === null) return ask(world, call, { ...keep })
    const { challenge, ...answer } = await send(grant)
    if (challenge?.error === 'insufficient_scope')
      return ask(world, call, { ...keep, ...demanded(challenge, grant.scope) })
    if (challenge?.status !== 401) return answer
    const renewed = (await world.grants?.renew(grant)) ?? null
    const second = renewed && (await send(renewed))
    if (second === null || second.challenge?.status === 401)
      return ask(world, call, { ...keep, ...demanded(challenge) })
    const { challenge: _, ...answered } = second
    return answered
  } catch (error) {
    once.signal.throwIfAborted()
    return { ok: false, content: error instanceof Error ? error.message : String(error) }
  }
}

interface SignInOffer {
  server: McpServer
  /** The demand of the server for a sign-in. Absent where it gave its list of tools. */
  challenge: Challenge | undefined
  world: World
  nameTool: NameTool
}

/** Returns the tool by whose call the user of a server signs in that shows nothing before. */
export function signInTool({ server, challenge, world, nameTool }: SignInOffer): Tool {
  const { fullName } = mcpTool(server, SIGN_IN_KEY)
  // No tool of a server has an empty name.
  const identity = { mcpServerId: server.id, toolName: '' }
  const call = async (_: unknown, once: Once): Promise<ToolAnswer> => {
    const { again } = once
    const refusal = again ? refusalOf(server, again) : null
    if (refusal !== null) return refusal
    const state = again ? stateOf(world, again) : challenge ? demanded(challenge) : {}
    // A grant that the server refused is not there: it could not be renewed, or a new one was needed.
    const isDone = again !== undefined && (await find(world, server)) !== null
    if (isDone) return { ok: true, content: `The user has signed in to ${server.name}. Its tools are there now.` }
    return ask(world, { server, once }, state)
  }
  return {
    identity,
    fullName,
    name: nameTool({ identity, fullName }),
    owner: server.id,
    description: `Asks the user to sign in to ${server.name}, whose tools are there after that.`,
    inputSchema: { type: 'object', properties: {} },
    call,
  }
}

const find = async ({ grants, values }: World, server: McpServer): Promise<Grant | null> =>
  (await grants?.find(server.id, values)) ?? null

/** Returns the words for the model where the call is not made. Null: it may be. */
function refusalOf(server: McpServer, { of, answers }: Again): ToolAnswer | null {
  if (of !== markOf(server)) return { ok: false, content: moved }
  if (answers.every(({ decision }) => decision === 'signed_in')) return null
  return { ok: false, content: `The user did not sign in to ${server.name}. The call was not made.` }
}

/** Returns what a challenge says of the sign-in, with the scopes that the user has granted before. */
function demanded({ scope, metadata }: Challenge, granted: string | null = null): SignInState {
  const scopes = new Set(`${granted ?? ''} ${scope ?? ''}`.split(' ').filter((one) => one !== ''))
  return { ...(scopes.size > 0 && { scope: [...scopes].join(' ') }), ...(metadata !== undefined && { metadata }) }
}

const stateOf = ({ states }: World, { state }: Again): SignInState =>
  state === undefined || states === undefined ? {} : readSignInState(states.open(state))

/** Returns answers as they are kept until they are sent. Their own state stays encrypted. */
const kept = (again: Again): NonNullable<SignInState['again']> => ({
  of: again.of,
  answers: again.answers.map(({ key, decision, content }) => ({
    key,
    decision,
    ...(content !== undefined && { content }),
  })),
  ...(again.state !== undefined && { state: again.state }),
})

/** Returns that the call waits until its user has signed in. */
function ask(
  { grants, states, values }: World,
  { server, once }: Pick<AskingCall, 'server' | 'once'>,
  state: SignInState,
): ToolAnswer {
  const { sessionId = null, user = null } = values ?? {}
  if (grants === undefined || states === undefined || sessionId === null || user === null)
    return { ok: false, content: `${server.name} needs its user to sign in, and here nobody can.` }
  const url = grants.pageFor({ sessionId, user, serverId: server.id, call: once.key })
  const message = `Sign in to ${server.name} to go on.`
  return {
    ok: true,
    content: '',
    asked: {
      server: server.name,
      questions: [{ key: SIGN_IN_KEY, message, url, signIn: true }],
      of: markOf(server),
      state: states.seal(JSON.stringify(state)),
    },
  }
}
