/** The agent and the chat of the pages. */

const demoAgent = '00000000-0000-4000-8000-000000000001'
/** The agent's id. */
export const agent = new URLSearchParams(location.search).get('agent') ?? demoAgent

/** The agent's deploy API; the development server passes it on. */
export const deploy = `/api/v1/agents/${agent}/deploy`

/** Returns a UUID that the address stores: the same after a reload, and for whoever the address is sent to. */
export function chatId(): string {
  if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`)
  return location.hash.slice(1)
}

export const element = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}
