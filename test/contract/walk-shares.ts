/** Walks the endpoints of shares and children on both paths, the search, and connections. */
import { agent, play, session } from './endpoints.ts'
import type { Walk } from './walk-responses.ts'

export async function walkShares(walk: Walk, { agent_id, session_id }: { agent_id: string; session_id: string }) {
  for (const base of [session, `${play}/{session_id}`]) {
    const ids = { agent_id, session_id }
    const { id: share_id } = await walk('post', `${base}/shares`, ids, { live: true })
    await walk('post', `${base}/shares`, ids, { live: 1 })
    await walk('post', `${base}/shares`, { agent_id }, {})
    await walk('get', `${base}/shares`, ids)
    await walk('get', `${base}/shares`, { agent_id })
    await walk('delete', `${base}/shares/{share_id}`, { ...ids, share_id })
    await walk('delete', `${base}/shares/{share_id}`, { ...ids, share_id })
    await walk('get', `${base}/children`, ids)
    await walk('get', `${base}/children`, { agent_id })
  }
  await walk('get', `${agent}/deploy/users/{user}/connections`, { agent_id, user: 'ann' })
  await walk('get', `${agent}/deploy/sessions/search?q={q}`, { agent_id, q: 'word' })
}

/** Walks what lies below an MCP server. */
export async function walkServer(walk: Walk, path: string, id: string) {
  await walk('get', `${path}/{id}/tools`, {})
  await walk('get', '/api/v1/connections', {})
  await walk('get', `${path}/{id}/connections`, { id })
  await walk('delete', `${path}/{id}/connections/{connection_id}`, { id })
}
