/** What one turn of a model has sent and was not read yet. */
import type { ModelEvent } from '../../actors/ports/index.ts'

/** A sign of life without text; several in a row are one. `output`: the model made something (see ModelEvent). */
export function addActivity(events: ModelEvent[], output = false): void {
  const last = events.at(-1)
  if (last?.type !== 'activity') events.push(output ? { type: 'activity', output } : { type: 'activity' })
  else if (output) last.output = true
}
