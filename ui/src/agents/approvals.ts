/** Tools whose calls need approval, as the agent's form shows them: by a label each. */
import type { AgentTools } from './resource.ts'

export type Approval = Exclude<AgentTools['approvals'], '*'>[number]

export interface KnownTool {
  label: string
  approval: Exclude<Approval, string>
}

/** Returns a text to compare approvals by: the server may send the fields in another order. */
const textOf = (approval: Approval) => JSON.stringify(Object.entries(approval).sort())
const isSame = (a: Approval, b: Approval) => textOf(a) === textOf(b)

export function labelOf(approval: Approval, known: readonly KnownTool[]): string {
  if (typeof approval === 'string') return approval
  const label = known.find((tool) => isSame(tool.approval, approval))?.label
  if (label !== undefined) return label
  return 'mcpServerId' in approval ? `${approval.mcpServerId}__${approval.toolName}` : Object.values(approval).join()
}

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
    (label) =>
      before.find((approval) => labelOf(approval, known) === label) ??
      known.find((tool) => tool.label === label)?.approval ??
      label,
  )
}

/**
 * Returns the approval that makes the calls of this tool wait: its own, or a wider one, of all tools of its server or
 * of every tool.
 */
export function askedBy({ label, approval }: KnownTool, approvals: AgentTools['approvals']): 'own' | 'wider' | null {
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
