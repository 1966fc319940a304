/** Approvals as callers send them (contract sections 15 and 25). */
import { MAX_APPROVAL, toolIdentities } from '../../../openapi/schemas/records/tools.ts'
import type { Approval } from '../../persistence/records/tools/configured-tools.ts'
import { exactObject } from '../../untrusted/exact-json.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { patternWarning } from '../../untrusted/json/schema-patterns.ts'
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
    const { when, mayRemember, ...rest } = isObject(approval) ? approval : { when: null, mayRemember: null }
    const identity = readIdentity(isObject(approval) ? rest : approval, where, toolIdentities)
    if ('builtInToolId' in identity && !builtInTools.some(({ id }) => id === identity.builtInToolId)) {
      badRequest(`${where}: there is no built-in tool ${JSON.stringify(identity.builtInToolId)}`)
    }
    return { ...identity, ...readConditions({ when, mayRemember }, where) }
  })
}

/** Reads what an element says besides its tool. Null counts as absent. Schemas are checked when they are saved. Throws 400. */
export function readConditions({ when, mayRemember }: { when?: unknown; mayRemember?: unknown }, where: string) {
  if (when != null && !isObject(when)) return badRequest(`${where}.when: must be a JSON Schema of an object`)
  if (mayRemember != null && !isScope(mayRemember)) {
    return badRequest(`${where}.mayRemember: must be "session", "user" or null`)
  }
  return { ...(when != null && { when: exactObject(when) }), ...(isScope(mayRemember) && { mayRemember }) }
}

/** Rejects with 400 that names a condition which is no schema of an object, or of which a part would not be applied. */
export async function checkConditions(
  approvals: readonly Approval[] | '*' | undefined,
  checkSchema: (schema: Record<string, unknown>) => Promise<string | null>,
): Promise<void> {
  if (approvals === undefined || approvals === '*') return
  for (const [index, approval] of approvals.entries()) {
    const when = typeof approval === 'string' ? undefined : approval.when
    if (when === undefined) continue
    const fault = (await checkSchema(when)) ?? patternWarning(when)
    if (fault !== null) badRequest(`approvals.${index}.when: ${fault}`)
  }
}

const isScope = (value: unknown): value is 'session' | 'user' => value === 'session' || value === 'user'

export function readText(text: unknown, where: string): string {
  if (typeof text !== 'string') return badRequest(`${where}: must be a string`)
  if (text === '') badRequest(`${where}: must have at least 1 character`)
  return [...text].length <= MAX_APPROVAL ? text : badRequest(`${where}: must have at most ${MAX_APPROVAL} characters`)
}

type Texts<Form> = Form extends unknown ? { [Field in keyof Form]: string } : never

/** Returns the fields of an object that has one of these forms: it is told by its first field. Throws 400. */
export function readIdentity<Form extends object>(given: unknown, where: string, forms: readonly Form[]): Texts<Form> {
  const named = forms.map((form) => Object.keys(form))
  const fields = named.find(([first]) => isObject(given) && first !== undefined && first in given)
  if (!isObject(given) || fields === undefined) {
    const shown = named.map((names) => `{${names.join(', ')}}`)
    return badRequest(`${where}: must be a name, ${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`)
  }
  const other = Object.keys(given).find((key) => !fields.includes(key))
  if (other !== undefined) badRequest(`${where}.${other}: is not a field of this`)
  const read = fields.map((field) => [field, readText(given[field], `${where}.${field}`)] as const)
  return Object.fromEntries(read) as Texts<Form>
}
