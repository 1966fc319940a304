/**
 * The text of turns that may not be the last one. Where the answer must be JSON, only the last turn's text is content:
 * earlier turns' text is shown as reasoning (contract section 35). Which turn is the last is known when it has ended.
 */
import type { Actions, ModelRequest } from '../ports/index.ts'
import type { ReplyEvent } from '../reply/reply-event.ts'

/** Decides whether the text of a turn is held back until its end. */
export function holdsText(
  { fields }: Pick<ModelRequest, 'fields'>,
  { turnsApart }: Pick<Actions, 'turnsApart'>,
  tools: readonly unknown[],
): boolean {
  const format = fields?.responseFormat?.type ?? 'text'
  return format !== 'text' && tools.length > 0 && turnsApart !== true
}

/** Returns the events of a held text. `goesOn`: another turn of the reply follows. */
export function heldEvents(text: string, goesOn: boolean, { reasoning }: { reasoning: boolean }): ReplyEvent[] {
  if (text === '' || (goesOn && !reasoning)) return []
  return [{ type: goesOn ? 'reasoning' : 'text', text }]
}
