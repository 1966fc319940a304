/** A change as an event, made once for all that are shown it in one form. */
import type { SessionChange } from '../store/session-changes.ts'

/** A form in which a session is shown to followers. The same function stands for the same form. */
export type Show = (session: Extract<SessionChange, { deleted: false }>['session']) => object

export type TextOf = (change: SessionChange, show: Show) => string

export function createChangeTexts(): TextOf {
  const texts = new WeakMap<SessionChange, Map<Show, string>>()
  return (change, show) => {
    const forms = texts.get(change) ?? new Map<Show, string>()
    texts.set(change, forms)
    const text = forms.get(show) ?? eventOf(change, show)
    forms.set(show, text)
    return text
  }
}

function eventOf(change: SessionChange, show: Show): string {
  const data = change.deleted ? { id: change.sessionId, deleted: true } : show(change.session)
  return `id: ${change.id}\nevent: session\ndata: ${JSON.stringify(data)}\n\n`
}
