/** Approvals as callers send them (contract sections 15 and 25). */
import { MAX_APPROVAL } from '../../../openapi/schemas/records/tools.ts'
import type { Approval } from '../../actors/ports/index.ts'
import { badRequest } from '../server/http-error.ts'

/** Throws 400. Whether HTTP tools and MCP servers exist is looked at when they are saved. */
export function readApprovals(
  given: readonly unknown[] | '*',
  builtInTools: readonly { id: string }[],
): Approval[] | '*' {
  if (given === '*') return given
  return given.map((approval, index) => {
    const where = `approvals.${index}`
    if (typeof approval === 'string') return readText(approval, where)
    const own = formOf(approval, where, ['builtInToolId'])
    if (own !== null) return builtIn(own.builtInToolId, where, builtInTools)
    const http = formOf(approval, where, ['httpToolId'])
    const mcp = formOf(approval, where, ['mcpServerId', 'toolName'])
    return (
      http ?? mcp ?? badRequest(`${where}: must be a name, {builtInToolId}, {httpToolId} or {mcpServerId, toolName}`)
    )
  })
}

function builtIn(builtInToolId: string, where: string, builtInTools: readonly { id: string }[]): Approval {
  if (builtInTools.some(({ id }) => id === builtInToolId)) return { builtInToolId }
  return badRequest(`${where}: there is no built-in tool ${JSON.stringify(builtInToolId)}`)
}

export function readText(text: unknown, where: string): string {
  if (typeof text !== 'string') return badRequest(`${where}: must be a string`)
  if (text === '') badRequest(`${where}: must have at least 1 character`)
  return [...text].length <= MAX_APPROVAL ? text : badRequest(`${where}: must have at most ${MAX_APPROVAL} characters`)
}

/** The fields of an object that has the first of them. Null when it has not. Throws 400 where it has others than these. */
export function formOf<Field extends string>(
  given: unknown,
  where: string,
  fields: readonly [Field, ...Field[]],
): Record<Field, string> | null {
  if (typeof given !== 'object' || given === null || !(fields[0] in given)) return null
  const others = Object.keys(given).filter((key) => !fields.some((field) => field === key))
  if (others.length > 0) badRequest(`${where}.${others[0]}: is not a field of this`)
  const values = new Map<string, unknown>(Object.entries(given))
  const read = (field: Field) => [field, readText(values.get(field), `${where}.${field}`)] as const
  return Object.fromEntries(fields.map(read)) as Record<Field, string>
}
