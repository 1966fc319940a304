/** Greenroom's sessions. The URL is the server's; provider and agent are made by the adapter. */

import type { Adapter, End, Item, Setting, Target } from '../types.ts'
import { ask, askJson, dataOf, serverEvents } from '../wire/http.ts'

const deploy = ({ url, agent }: Target) => `${url}/api/v1/agents/${agent}/deploy/sessions`
const completions = (target: Target, session: string) => `${deploy(target)}/${session}/chat/completions`

async function* items(response: Response): AsyncGenerator<Item> {
  for await (const event of serverEvents(response)) {
    if (event.data === '[DONE]') return
    const { id, choices, error } = dataOf(event)
    const reply = typeof id === 'string' ? { reply: id.replace('chatcmpl-', '') } : {}
    if (error !== undefined) yield { id: event.id, end: 'error', ...reply }
    const choice = Object(Array.isArray(choices) ? choices[0] : null)
    const text: unknown = Object(choice.delta).content
    if (typeof text === 'string' && text !== '') yield { id: event.id, text, ...reply }
    if (typeof choice.finish_reason === 'string')
      yield { id: event.id, end: choice.finish_reason === 'cancelled' ? 'cancelled' : 'complete', ...reply }
  }
}

function statusOf(message: Record<string, unknown>): End | 'running' {
  if (message.finish_reason === 'cancelled') return 'cancelled'
  if (message.status === 'streaming') return 'running'
  return message.status === 'error' ? 'error' : 'complete'
}

/** Returns the headers of a login, for management. */
async function loggedIn({ url, login }: Setting, target: Target): Promise<Record<string, string>> {
  if (login === null) return {}
  const [username = '', ...password] = login.split(':')
  const answer = await ask(`${url}/api/auth/login`, target, { body: { username, password: password.join(':') } })
  return {
    cookie: answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; '),
  }
}

export const greenroom: Adapter = {
  name: 'greenroom',
  offers: ['createConversation', 'send', 'follow', 'read', 'cancel', 'remove'],
  async configure(setting) {
    if (setting.agent !== null) return setting.agent
    const { url, modelUrl } = setting
    const target = { url, url2: null, agent: null, key: null, signal: AbortSignal.timeout(30_000) }
    const headers = await loggedIn(setting, target)
    const name = `Conformance ${crypto.randomUUID()}`
    const provider = await askJson(`${url}/api/v1/settings/providers`, target, {
      body: { name, providerType: 'openai-compatible', baseUrl: modelUrl },
      headers,
    })
    const agent = await askJson(`${url}/api/v1/agents`, target, {
      body: { name, providerId: provider.id, model: 'suite' },
      headers,
    })
    return String(agent.id)
  },
  createConversation: async (target) => String((await askJson(deploy(target), target, { body: {} })).id),
  async *send(session, text, { key, signal }, target) {
    const response = await ask(completions(target, session), target, {
      body: { stream: true, messages: [{ role: 'user', content: text }] },
      headers: key === undefined ? {} : { 'idempotency-key': key },
      signal,
    })
    yield* items(response)
  },
  async *follow(session, reply, afterId, target) {
    const headers = afterId === null ? {} : { 'last-event-id': afterId }
    yield* items(await ask(`${completions(target, session)}/stream?reply=${reply}`, target, { headers }))
  },
  async read(session, target) {
    const { messages } = await askJson(`${deploy(target)}/${session}/messages`, target)
    return (Array.isArray(messages) ? messages : []).map((message) => ({
      role: message.role === 'user' ? 'user' : 'assistant',
      status: statusOf(message),
      text: String(message.content ?? ''),
    }))
  },
  async cancel(session, _reply, target) {
    await ask(`${completions(target, session)}/cancel`, target, { method: 'POST' })
  },
  async remove(session, target) {
    await ask(`${deploy(target)}/${session}`, target, { method: 'DELETE' })
  },
}
