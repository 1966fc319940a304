/** Every operation of versions and drafts, as the document declares it. */

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<any>

const one = '/api/v1/agents/{id}'

/** Every operation of feedback. */
export async function walkFeedback(walk: Walk, ids: Record<string, string>): Promise<void> {
  for (const api of ['deploy', 'playground']) {
    const path = `/api/v1/agents/{agent_id}/${api}/sessions/{session_id}/messages/{message_id}/feedback`
    for (const body of [{ score: 1 }, { score: 0 }]) await walk('put', path, ids, body)
    await walk('put', path, { ...ids, message_id: 'none' }, { score: 1 })
    await walk('delete', path, ids)
  }
}

/** Every operation of replays. */
export async function walkReplays(walk: Walk, id: string, message_id: string): Promise<void> {
  const all = `${one}/replays`
  const made = await walk('post', all, { id }, { version: 1, replies: [message_id] })
  const ids = { id, replay_id: made.id, message_id }
  await walk('post', all, { id }, { version: 1, replies: [] })
  await walk('get', all, { id })
  for (const replay_id of [made.id, 'none']) {
    await walk('get', `${all}/{replay_id}`, { ...ids, replay_id })
    await walk('put', `${all}/{replay_id}/cases/{message_id}`, { ...ids, replay_id }, { verdict: 'same' })
    await walk('post', `${all}/{replay_id}/cancel`, { ...ids, replay_id })
    await walk('delete', `${all}/{replay_id}`, { ...ids, replay_id })
  }
}

export async function walkVersions(walk: Walk, id: string): Promise<void> {
  await walk('get', `${one}/versions`, { id })
  for (const n of ['1', 'no']) {
    await walk('get', `${one}/versions/{n}`, { id, n })
    await walk('post', `${one}/versions/{n}/publish`, { id, n })
  }
  for (const [method, path] of [
    ['post', 'publish'],
    ['delete', 'draft'],
  ] as const) {
    await walk('put', `${one}?draft=true`, { id }, { model: `drafted-${path}` })
    for (const _ of ['there', 'gone']) await walk(method, `${one}/${path}`, { id })
  }
}
