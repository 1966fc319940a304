/** Every operation of a session's queue, on the deploy API and in the playground, as the document declares it. */
import { expect } from 'vitest'
import { nobody, type Scene } from '../http/scene.ts'

type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<unknown>

/** A reply runs in the session. */
export async function walkQueue(
  scene: Scene,
  walk: Walk,
  ids: { agent_id: string; session_id: string },
): Promise<void> {
  const { agent_id, session_id } = ids
  const queued = ['one', 'two'].map((text) => scene.send(session_id, text, { on_busy: 'enqueue' }))
  const queue = async (): Promise<{ id: string }[]> =>
    (await scene.call('GET', `${scene.sessions}/${session_id}/queue`)).json.queue
  await expect.poll(async () => (await queue()).length).toBe(queued.length)
  const waiting = await queue()
  for (const [n, base] of ['deploy', 'playground'].entries()) {
    const one = `/api/v1/agents/{agent_id}/${base}/sessions/{session_id}`
    await walk('get', `${one}/queue`, ids)
    await walk('get', `${one}/queue`, { agent_id })
    for (const message_id of [nobody, waiting[n]?.id ?? '']) {
      await walk('delete', `${one}/queue/{message_id}`, { ...ids, message_id })
    }
  }
  await Promise.all(queued)
  const deploy = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}'
  for (const body of [{ queue: 'all' }, {}]) await walk('post', `${deploy}/chat/completions/cancel`, ids, body)
}
