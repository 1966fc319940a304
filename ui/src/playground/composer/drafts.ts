/** Text that was typed and not sent, for each session: it survives reloads and logins, but not the window. */

const keyOf = (agentId: string, sessionId: string | null) => `draft:${agentId}:${sessionId ?? 'new'}`

export const readDraft = (agentId: string, sessionId: string | null): string =>
  sessionStorage.getItem(keyOf(agentId, sessionId)) ?? ''

export function keepDraft(agentId: string, sessionId: string | null, text: string): void {
  const key = keyOf(agentId, sessionId)
  try {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // The browser's storage is full: the text is still on the page.
  }
}
