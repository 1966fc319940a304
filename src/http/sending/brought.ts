/** The parts of a request that count for its session besides the message. */
import type { Brought } from '../../actors/ports/index.ts'
import type { MessageInput } from './message-record.ts'

/** Returns them as a fact of the reply. The tools and fields of earlier requests that are in force have counted already. */
export function broughtBy({
  callerTools,
  fields,
  instructions,
  overrides,
}: Pick<MessageInput, 'callerTools' | 'fields' | 'instructions' | 'overrides'>): { brought?: Brought } {
  const brought: Brought = {
    ...(callerTools && callerTools.tools.length > 0 && { tools: callerTools.tools }),
    ...(fields.responseFormat && { format: fields.responseFormat }),
    ...(instructions && { instructions: instructions.texts }),
    ...(overrides && { overrides }),
  }
  return Object.keys(brought).length > 0 ? { brought } : {}
}
