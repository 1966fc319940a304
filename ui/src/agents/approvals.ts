/** Tools whose calls need approval, as the agent's form shows them: by a label each. */
import type { components } from '../../../openapi/generated/schema.ts'
import { parseExact, writeExact } from '../../../src/untrusted/exact-json.ts'

type StoredApproval = Exclude<components['schemas']['AgentTools']['approvals'], '*'>[number]

type Typed<Stored> = Stored extends string ? Stored : Omit<Stored, 'when'> & { when?: string }

/** An approval in a form, which copies its values: `when` is JSON text, so that its numbers keep their digits. */
export type Approval = Typed<StoredApproval>

export interface KnownTool {
  label: string
  approval: Exclude<Approval, string>
}

/** Returns a stored approval as a form holds it. */
export function typedApproval(stored: StoredApproval): Approval {
  if (typeof stored === 'string') return stored
  const { when, ...rest } = stored
  return { ...rest, ...(when && { when: writeExact(when) }) }
}

/** Returns an approval of a form as the API takes it. Throws as `JSON.parse` does where `when` is no JSON. */
export function sentApproval(typed: Approval): StoredApproval {
  if (typeof typed === 'string') return typed
  const { when, ...rest } = typed
  return { ...rest, ...(when !== undefined && { when: Object(parseExact(when)) }) }
}

/** Returns a text to compare the tools of approvals by: the server may send the fields in another order. */
const textOf = (approval: Approval) => {
  if (typeof approval === 'string') return approval
  const { when: _, mayRemember: __, ...identity } = approval
  return JSON.stringify(Object.entries(identity).sort())
}
const isSame = (a: Approval, b: Approval) => textOf(a) === textOf(b)

export function labelOf(approval: Approval, known: readonly KnownTool[]): string {
  if (typeof approval === 'string') return approval
  const { when, mayRemember, ...identity } = approval
  const label = known.find((tool) => isSame(tool.approval, approval))?.label
  const unknown =
    'mcpServerId' in identity ? `${identity.mcpServerId}__${identity.toolName}` : Object.values(identity).join()
  return `${label ?? unknown}${when === undefined ? '' : ` when ${when}`}${mayRemember ? ` remember ${mayRemember}` : ''}`
}

const CONDITION = /^(.*?)(?: when (\{.*\}))?(?: remember (session|user))?$/s

/** Reads a label with a condition behind a known tool, as `labelOf` writes it. Undefined: it is none. */
function conditional(text: string, known: readonly KnownTool[]): Approval | undefined {
  const [, label, when, mayRemember] = CONDITION.exec(text) ?? []
  const tool = known.find((one) => one.label === label)
  if (tool === undefined) return undefined
  try {
    const schema = when === undefined ? null : parseExact(when)
    return {
      ...tool.approval,
      ...(isSchema(schema) && { when: JSON.stringify(schema) }),
      ...((mayRemember === 'session' || mayRemember === 'user') && { mayRemember }),
    }
  } catch {
    return undefined
  }
}

const isSchema = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/**
 * Returns the approvals of a form. Unchanged names stay; a known label becomes its tool; the server checks any other
 * name.
 */
export function approvalsOf(
  labels: readonly string[],
  before: readonly Approval[],
  known: readonly KnownTool[],
): Approval[] {
  return labels.map(
    (label) => before.find((approval) => labelOf(approval, known) === label) ?? conditional(label, known) ?? label,
  )
}

/**
 * Returns the approval that makes the calls of this tool wait: its own, or a wider one, of all tools of its server or
 * of every tool.
 */
export function askedBy({ label, approval }: KnownTool, approvals: readonly Approval[] | '*'): 'own' | 'wider' | null {
  if (approvals === '*' || approvals.includes('*')) return 'wider'
  if (approvals.some((one) => one === label || isSame(one, approval))) return 'own'
  const ofServer = 'mcpServerId' in approval ? { ...approval, toolName: '*' } : null
  return ofServer && approvals.some((one) => isSame(one, ofServer)) ? 'wider' : null
}

/** Returns the same approvals with this tool's own, or without it. */
export const withAsking = (
  approvals: readonly Approval[],
  { label, approval }: KnownTool,
  asks: boolean,
): Approval[] => {
  const others = approvals.filter((one) => one !== label && !isSame(one, approval))
  return asks ? [...others, approval] : others
}
