/** Check of the names in the templates of an HTTP tool, made when the tool is saved (contract section 20). */
import { isObject } from '../untrusted/is-object.ts'
import { distinctIn, knownValues, metadataIn, unclosedIn } from './placeholders.ts'

export interface ToolTemplates {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | null
  inputSchema: Readonly<Record<string, unknown>> | null
}

const fieldsOf = ({ url, headers, body }: ToolTemplates): [field: string, template: string][] => [
  ['url', url],
  ...Object.entries(headers).map(([name, value]): [string, string] => [`headers.${name}`, value]),
  ['body', body ?? ''],
]

/** Names the field that may not be saved, and the reason. Null when all may. */
export function toolTemplateProblem(tool: ToolTemplates): string | null {
  const args = argumentsOf(tool.inputSchema)
  for (const [field, template] of fieldsOf(tool)) {
    for (const { kind, name } of distinctIn(template)) {
      if (kind === 'value' || (kind === 'other' && args.has(name))) continue
      return `${field}: ${JSON.stringify(name)} is neither a property of inputSchema nor a value: there are ${knownValues}`
    }
    const unclosed = unclosedIn(template)
    if (unclosed !== null) {
      return `${field}: ${JSON.stringify(unclosed)} is not closed by "}}", or its default holds a brace`
    }
  }
  return null
}

/** Returns the names of the session's metadata that a call of the tool sends. */
export const metadataOfTool = (tool: ToolTemplates): string[] =>
  fieldsOf(tool).flatMap(([, template]) => metadataIn(template))

/** Collects the properties that a schema names, in its alternatives and definitions too: a call may bring any of them. */
export function argumentsOf(schema: unknown): Set<string> {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const open: unknown[] = [schema]
  while (open.length > 0) {
    const one = open.pop()
    if (!isObject(one) || seen.has(one)) continue
    seen.add(one)
    if (isObject(one.properties)) for (const name of Object.keys(one.properties)) names.add(name)
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
      const alternatives = one[keyword]
      if (Array.isArray(alternatives)) open.push(...alternatives)
    }
    open.push(one.if, one.then, one.else)
    const { $ref } = one
    if (typeof $ref === 'string' && $ref.startsWith('#/')) open.push(at(schema, $ref))
  }
  return names
}

/** Resolves a reference within the same schema. */
function at(schema: unknown, reference: string): unknown {
  let found = schema
  for (const part of reference.slice(2).split('/')) {
    if (!isObject(found)) return undefined
    found = found[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return found
}
