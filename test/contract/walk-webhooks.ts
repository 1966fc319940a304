/** Every operation of webhooks, as the document declares it. */

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<any>

const nobody = '11111111-1111-4111-8111-111111111111'
const sessions = '/api/v1/agents/{agent_id}/deploy/sessions'

export async function walkWebhooks(walk: Walk, agent_id: string): Promise<void> {
  const path = '/api/v1/webhooks'
  const body = { name: 'W', url: 'http://127.0.0.1:1', events: ['session.deleted'] }
  const { id } = await walk('post', path, {}, body)
  await walk('post', path, {}, { ...body, url: 'no' })
  await walk('get', path, {})
  const { id: session_id } = await walk('post', sessions, { agent_id }, {})
  // The deletion of a session without messages is no event.
  const message = { messages: [{ role: 'user', content: 'x' }] }
  await walk('post', `${sessions}/{session_id}/chat/completions`, { agent_id, session_id }, message)
  await walk('delete', `${sessions}/{session_id}`, { agent_id, session_id })
  const { deliveries } = await walk('get', `${path}/{id}/deliveries`, { id })
  const again = `${path}/{id}/deliveries/{delivery_id}/redeliver`
  for (const delivery_id of [deliveries[0].id, nobody]) await walk('post', again, { id, delivery_id })
  for (const one of [id, nobody]) {
    await walk('get', `${path}/{id}/deliveries`, { id: one })
    await walk('get', `${path}/{id}`, { id: one })
    await walk('put', `${path}/{id}`, { id: one }, { name: 'X' })
    for (const action of ['secret', 'test']) await walk('post', `${path}/{id}/${action}`, { id: one })
    await walk('delete', `${path}/{id}`, { id: one })
  }
}
