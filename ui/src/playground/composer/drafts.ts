/**
 * Returns the key of a session's draft, text that was typed and not sent: it survives reloads and logins, but not the
 * window.
 */

const keyOf = (agentId: string, sessionId: string | null) => `draft:${agentId}:${sessionId ?? 'new'}`
const placeKeyOf = (agentId: string, sessionId: string | null) => `place-of-${keyOf(agentId, sessionId)}`

export const readDraft = (agentId: string, sessionId: string | null): string =>
  sessionStorage.getItem(keyOf(agentId, sessionId)) ?? ''

export function keepDraft(agentId: string, sessionId: string | null, text: string): void {
  keep(keyOf(agentId, sessionId), text === '' ? null : text)
}

/** The earlier message that the text replaces. */
export interface Place {
  /** Null where that message begins the session. */
  parentId: string | null
}

/**
 * Returns null where the text is a new message. A place without a text is forgotten: the next text is not meant for it.
 */
export function readPlace(agentId: string, sessionId: string | null): Place | null {
  if (readDraft(agentId, sessionId) === '') keepPlace(agentId, sessionId, null)
  const kept = sessionStorage.getItem(placeKeyOf(agentId, sessionId))
  return kept === null ? null : { parentId: kept === '' ? null : kept }
}

export function keepPlace(agentId: string, sessionId: string | null, place: Place | null): void {
  keep(placeKeyOf(agentId, sessionId), place && (place.parentId ?? ''))
}

function keep(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, value)
  } catch {
    // The browser's storage is full: the text is still on the page.
  }
}
