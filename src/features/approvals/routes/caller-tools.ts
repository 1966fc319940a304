/** The caller's own tools in a completion request (contract section 15), in the chat-completions format. Throws 400. */

import { MAX_TOOLS, TOOL_NAME } from '../../../../openapi/schemas/conversation/actions.ts'
import type { ToolChoice, ToolSpec } from '../../../actors/ports/index.ts'
import { isAbsent } from '../../../http/sending/answer-fields.ts'
import { refuseLargeSchema, refuseLargeTogether } from '../../../http/server/fields/schema-size.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import { exactObject } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'

export interface CallerTools {
  tools: readonly ToolSpec[]
  /** Null stands for the provider's default. */
  choice: ToolChoice | null
}

export const noTools: CallerTools = { tools: [], choice: null }

const namePattern = new RegExp(TOOL_NAME)

/** Fields of a body in the chat-completions format. */
interface ToolFields {
  tools?: unknown
  tool_choice?: unknown
  /** Counts in the size of the tools. */
  response_format?: unknown
}

export function readCallerTools({ tools, tool_choice, response_format }: ToolFields): CallerTools {
  refuseLargeTogether(tools, response_format)
  const specs = readTools(tools, { of: readTool, name: 'function.name' })
  const choice = readChoice(tool_choice)
  if (choice !== null && specs.length === 0) return badRequest('tool_choice: is only taken with tools')
  return { tools: specs, choice }
}

/** Reads tools. `name` is where a tool has its name. */
function readTools(
  tools: unknown,
  { of, name: place }: { of: (tool: unknown, where: string) => ToolSpec; name: string },
): ToolSpec[] {
  const given: unknown = isAbsent(tools) ? [] : tools
  if (!Array.isArray(given)) return badRequest('tools: must be an array')
  if (given.length > MAX_TOOLS) return badRequest(`tools: must have at most ${MAX_TOOLS} elements`)
  const specs = given.map((tool: unknown, index) => of(tool, `tools.${index}`))
  const names = specs.map(({ name }) => name)
  const twice = names.findIndex((name, index) => names.indexOf(name) < index)
  if (twice >= 0) return badRequest(`tools.${twice}.${place}: another tool of the request has this name`)
  return specs
}

/** Reads AG-UI's form: functions without a frame around them. When absent, as `broughtTools`. */
export function broughtFunctions(tools: unknown): { callerTools?: CallerTools } {
  refuseLargeTogether(tools, null)
  const specs = readTools(tools, { of: readFunction, name: 'name' })
  return specs.length > 0 ? { callerTools: { tools: specs, choice: null } } : {}
}

/**
 * Returns the AI SDK's tools: as a completion's, or an object of `{description?, parameters}` by name. When absent, as
 * `broughtTools`.
 */
export function broughtUITools(body: ToolFields): { callerTools?: CallerTools } {
  const { tools } = body
  if (!isObject(tools)) return broughtTools(body)
  const named = Object.entries(tools)
  const list = named.map(([name, tool]) => {
    if (!isObject(tool)) return badRequest(`tools.${name}: must be an object`)
    return { type: 'function', function: { ...tool, name } }
  })
  return broughtTools({ ...body, tools: list })
}

/** Returns nothing when the request brings none, and those that are in force stay. */
export function broughtTools(body: ToolFields): { callerTools?: CallerTools } {
  const callerTools = readCallerTools(body)
  return callerTools.tools.length > 0 ? { callerTools } : {}
}

function readTool(tool: unknown, where: string): ToolSpec {
  if (!isObject(tool)) return badRequest(`${where}: must be an object`)
  if (tool.type !== 'function') return badRequest(`${where}.type: must be "function"`)
  return readFunction(tool.function, `${where}.function`)
}

function readFunction(given: unknown, where: string): ToolSpec {
  if (!isObject(given)) return badRequest(`${where}: must be an object`)
  const { name, description, parameters, strict } = given
  if (typeof name !== 'string' || !namePattern.test(name)) {
    return badRequest(`${where}.name: must be 1 to 64 letters, digits, _ or -`)
  }
  if (description != null && typeof description !== 'string') {
    return badRequest(`${where}.description: must be a string`)
  }
  if (parameters != null && !isObject(parameters)) return badRequest(`${where}.parameters: must be an object`)
  refuseLargeSchema(parameters, `${where}.parameters`)
  if (strict != null && typeof strict !== 'boolean') return badRequest(`${where}.strict: must be true or false`)
  return {
    name,
    description: description ?? '',
    inputSchema: { properties: {}, ...(parameters && exactObject(parameters)), type: 'object' },
    ...(strict === true && { strict }),
  }
}

function readChoice(choice: unknown): ToolChoice | null {
  if (isAbsent(choice)) return null
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (isObject(choice) && choice.type === 'function' && isObject(choice.function)) {
    const { name } = choice.function
    if (typeof name === 'string') return { name }
  }
  return badRequest('tool_choice: must be "auto", "none", "required" or {"type": "function", "function": {"name"}}')
}

/** Refuses names that are taken. `own`: the names that the agent's tools have. */
export function refuseTaken({ tools, choice }: CallerTools, own: ReadonlySet<string>): void {
  const taken = tools.findIndex(({ name }) => own.has(name))
  if (taken >= 0) badRequest(`tools.${taken}.function.name: the agent has a tool of this name`)
  if (choice === null || typeof choice === 'string') return
  if (!own.has(choice.name) && !tools.some(({ name }) => name === choice.name)) {
    badRequest('tool_choice: there is no tool of this name')
  }
}
