/** Servers that a reply goes without: on record, and told to the model (contract section 27). */

import type { Toolbox } from '../ports/index.ts'
import { errorOf } from '../reply/reply-event.ts'
import type { Ending } from './endings.ts'
import type { Resumption, Running } from './running.ts'

/** Returns the running generation as it goes on with these tools: the last line of its prompt names what is missing. */
export function goingWithout(running: Running, toolbox: Toolbox | null): Running {
  if (!toolbox?.missing) return running
  const { request } = running
  const line = `Tools not available in this reply: ${toolbox.missing.words}.`
  return { ...running, request: { ...request, system: request.system ? `${request.system}\n\n${line}` : line } }
}

/** Puts what is missing on record, or that nothing is any more. */
export async function recordMissing(
  { take, models, from }: Pick<Running, 'take' | 'models'> & { from?: Pick<Resumption, 'lacksTools'> | undefined },
  toolbox: Toolbox | null,
): Promise<void> {
  const missing = toolbox?.missing?.servers ?? []
  if (missing.length > 0 || from?.lacksTools === true) await take([models.lacking(missing)])
}

/** Returns how a reply ends that may not go without a server. Null when it goes on. */
export function endOfMissing(toolbox: Toolbox | null): Ending | null {
  if (!toolbox?.missing?.fails) return null
  return { type: 'failed', error: errorOf('tools_unavailable', `Tools are not available: ${toolbox.missing.words}.`) }
}
