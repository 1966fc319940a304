import type { Operation } from '../../operation.ts'

/**
 * Declares an operation of an agent a second time, below `/api/v1/openai`. There `model` or an id names the agent, so
 * a body with `model` is required, and no client secret is accepted.
 */
export function belowOpenai(
  { path, secret: _, bodyOptional: __, ...shared }: Operation,
  changes: Partial<Pick<Operation, 'summary' | 'body'>> = {},
): Operation {
  return { ...shared, ...changes, path: path.replace('/agents/{agent_id}/deploy', '/openai') }
}
