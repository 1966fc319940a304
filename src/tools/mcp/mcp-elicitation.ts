/**
 * Questions of a server to the user while it carries out a call (contract section 27). A server of the newest revision
 * answers with them; the call is sent again with the answers. An older one may refuse a call until a page was visited.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  isInputRequiredResult,
  type RequestOptions,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client'
import type { Again } from '../../actors/ports/index.ts'
import { pause } from '../../async/pause.ts'
import { parseExact } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { numbersInJson, withMarks } from './mcp-numbers.ts'

export interface Question {
  key: string
  message: string
  /** JSON text of the form's schema. Absent where a page is to be visited. */
  schema?: string
  url?: string
}

export interface ServerQuestions {
  questions: Question[]
  /** The server's state, which goes back to it. */
  state?: string
}

/** A result, or questions before there is one. */
export type Called = { result: Result; asks?: never } | { asks: ServerQuestions; result?: never }

/** A question that nobody can be asked. The message is for the model. */
export class CannotAsk extends Error {
  override name = 'CannotAsk'
}

const MAX = { questions: 10, message: 10_000, schema: 64 * 1024, state: 256 * 1024 }
/** The time after which an answer that asks nothing is sent again (milliseconds). */
const AGAIN_MS = 1_000

const asking = { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {}, url: {} } } }

type Params = Parameters<Client['callTool']>[0]
type Result = Awaited<ReturnType<Client['callTool']>>

interface Asking {
  mayAsk: boolean
  again: Again | undefined
}

/** Makes a call whose server may ask. Rejects as the client does, and with CannotAsk. */
export async function callAsking(
  client: Client,
  params: Params,
  { mayAsk, again }: Asking,
  options: RequestOptions & { signal: AbortSignal },
): Promise<Called> {
  if (client.getProtocolEra() !== 'modern') return await callOlder(client, params, { mayAsk, again }, options)
  const own = mayAsk ? { ...params, _meta: { ...asking, ...params._meta } } : params
  let more: object = again ? answersFor(again) : {}
  for (;;) {
    const result = await client.callTool({ ...own, ...more }, { ...options, allowInputRequired: true })
    if (!isInputRequiredResult(result)) return { result }
    if (!mayAsk) throw new CannotAsk('The MCP server asks its user something, and here nobody can be asked.')
    const { inputRequests = {}, requestState } = result
    if (requestState !== undefined && Buffer.byteLength(requestState) > MAX.state) cannot('sends too large a state')
    const questions = Object.entries(inputRequests).map(([key, request]) => questionIn(key, request))
    if (questions.length > MAX.questions) cannot(`asks more than ${MAX.questions} questions at once`)
    if (questions.length > 0) return { asks: { questions, ...(requestState !== undefined && { state: requestState }) } }
    await pause(AGAIN_MS, options.signal)
    options.signal.throwIfAborted()
    more = { requestState }
  }
}

const cannot = (what: string): never => {
  throw new CannotAsk(`The MCP server cannot ask its user: it ${what}.`)
}

/** Makes a call of an older server, which is sent it once more, without answers. */
async function callOlder(
  client: Client,
  params: Params,
  { mayAsk, again }: Asking,
  options: RequestOptions,
): Promise<Called> {
  if (again?.answers.some(({ decision }) => decision !== 'answer'))
    throw new CannotAsk('The user declined what the MCP server asked for. The call was not made again.')
  try {
    return { result: await client.callTool(params, options) }
  } catch (error) {
    if (!mayAsk || !(error instanceof UrlElicitationRequiredError)) throw error
    const { elicitations } = error
    if (!Array.isArray(elicitations) || elicitations.length === 0) throw error
    if (elicitations.length > MAX.questions) cannot(`asks more than ${MAX.questions} questions at once`)
    const questions = elicitations.map((one: unknown, index) => {
      const key = isObject(one) && typeof one.elicitationId === 'string' ? one.elicitationId : `${index + 1}`
      return questionOf(key, isObject(one) ? { ...one, mode: 'url' } : {})
    })
    return { asks: { questions } }
  }
}

function questionIn(key: string, request: unknown): Question {
  if (!isObject(request) || request.method !== 'elicitation/create' || !isObject(request.params))
    return cannot('asks for something else than an answer of the user')
  return questionOf(key, request.params)
}

function questionOf(key: string, { mode = 'form', message, requestedSchema, url }: Record<string, unknown>): Question {
  if (typeof message !== 'string' || message.length > MAX.message) return cannot('sends no readable message')
  const asked = { key, message: message.toWellFormed() }
  if (mode === 'url') return { ...asked, url: visitable(url) }
  if (mode !== 'form') return cannot('asks in a way that is not known')
  const schema =
    isObject(requestedSchema) && requestedSchema.type === 'object'
      ? numbersInJson(JSON.stringify(requestedSchema))
      : null
  if (schema === null || Buffer.byteLength(schema) > MAX.schema) return cannot('sends no form that can be shown')
  return { ...asked, schema: schema.toWellFormed() }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Returns an address that a user may be sent to. */
function visitable(url: unknown): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && LOOPBACK.test(parsed.hostname))
  if (parsed === null || !isSafe || parsed.username !== '' || parsed.password !== '')
    return cannot('sends its user to an address that is not https')
  return parsed.href
}

const answersFor = ({ answers, state }: Again): object => ({
  inputResponses: Object.fromEntries(
    answers.map(({ key, decision, content }) => [
      key,
      {
        action: decision === 'answer' ? 'accept' : decision,
        ...(content !== undefined && { content: withMarks(Object(parseExact(content))) }),
      },
    ]),
  ),
  ...(state !== undefined && { requestState: state }),
})
