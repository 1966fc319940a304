/** Walks the endpoints of a session below a session, on both paths. */
import type { Upstream } from '../support/network/upstream.ts'
import { agent, play, session } from './endpoints.ts'
import type { Walk } from './walk-responses.ts'

/** Has another agent ask this one. */
export async function walkChildren(walk: Walk, up: Upstream, agent_id: string): Promise<void> {
  const { providerId } = await walk('get', '/api/v1/agents/{id}', { id: agent_id })
  const desk = (await walk('post', '/api/v1/agents', {}, { name: 'Desk', providerId, model: 'desk' })).id
  await walk('put', `${agent}/tools`, { agent_id: desk }, { agentTools: [{ agentId: agent_id }] })
  up.always(async (call) => {
    const [tool] = call.body.model === 'desk' && call.body.messages.at(-1).role !== 'tool' ? call.body.tools : []
    if (tool) await call.toolCall({ name: tool.function.name, arguments: '{"message":"x"}' })
    else await call.text('ok')
    await call.finish(tool ? 'tool_calls' : 'stop')
  })
  const made = await walk('post', `${agent}/deploy/sessions`, { agent_id: desk })
  const ids = { agent_id: desk, session_id: made.id }
  await walk('post', `${session}/chat/completions`, ids, { messages: [{ role: 'user', content: 'x' }] })
  const { sessions } = await walk('get', `${session}/children`, ids)
  const chat = { [session]: '/chat/completions', [`${play}/{session_id}`]: '' }
  for (const [base, infix] of Object.entries(chat)) {
    const one = `${base}/children/{child_id}`
    for (const path of [{ ...ids, child_id: sessions[0].id }, ids]) {
      await walk('get', one, path)
      await walk('get', `${one}/messages`, path)
      await walk('get', `${one}${infix}/stream`, path)
      await walk('post', `${one}${infix}/cancel`, path)
    }
  }
}
