/** Every operation of decisions, as the document declares it. */
import type { Upstream } from '../support/network/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the walk looks at
type Walk = (method: string, template: string, ids: Record<string, string>, body?: unknown) => Promise<any>

const agentPath = '/api/v1/agents/{agent_id}'
const deploy = `${agentPath}/deploy`
const one = `${deploy}/sessions/{session_id}`
const play = `${agentPath}/playground`
const message = (content: string, extra: object = {}) => ({ messages: [{ role: 'user', content }], ...extra })

/** Calls that wait, decided on both paths. */
export async function walkDecisions(walk: Walk, up: Upstream, agent_id: string): Promise<void> {
  await walk('put', `${agentPath}/tools`, { agent_id }, { builtInToolIds: ['current_time'], approvals: '*' })
  const decisions = [{ call_id: 'c1', decision: 'approve' }]
  for (const path of [one, `${play}/sessions/{session_id}`]) {
    const { id: session_id } = await walk('post', `${deploy}/sessions`, { agent_id }, {})
    up.next(async (call) => {
      await call.toolCall({ index: 0, id: 'c1', name: 'current_time', arguments: '{}' })
      await call.finish('tool_calls')
    })
    up.next((call) => call.text('Late.').then(() => call.finish()))
    const ids = { agent_id, session_id }
    await walk('post', `${one}/chat/completions`, ids, message('Time?', { include_actions: true }))
    for (const n of [1, 2]) await walk('post', `${path}/actions`, ids, { decisions, include_actions: n === 1 })
  }
  await walkRemembered(walk, up, agent_id)
  await walk('put', `${agentPath}/tools`, { agent_id }, { builtInToolIds: [], approvals: [] })
}

/** Lists and revokes decisions, one of the session and one of its user, on both APIs. */
async function walkRemembered(walk: Walk, up: Upstream, agent_id: string): Promise<void> {
  const user = 'zoe'
  const { id: session_id } = await walk('post', `${deploy}/sessions`, { agent_id }, { user })
  const ids = { agent_id, session_id, user }
  const paths = [
    `${one}/decisions`,
    `${deploy}/users/{user}/decisions`,
    `${play}/sessions/{session_id}/decisions`,
    `${agentPath}/users/{user}/decisions`,
  ]
  for (const path of paths) {
    up.next(async (call) => {
      await call.toolCall({ index: 0, id: 'c1', name: 'current_time', arguments: '{}' })
      await call.finish('tool_calls')
    })
    up.next((call) => call.text('Late.').then(() => call.finish()))
    await walk('post', `${one}/chat/completions`, ids, message('Time?', { include_actions: true }))
    const remember = path.includes('{user}') ? 'user' : 'session'
    await walk('post', `${one}/actions`, ids, { decisions: [{ call_id: 'c1', decision: 'approve', remember }] })
    const { decisions } = await walk('get', path, ids)
    for (let n = 0; n < 2; n++) await walk('delete', `${path}/{decision_id}`, { ...ids, decision_id: decisions[0].id })
  }
}
