/** Random schedules of what clients do with a session that has a queue, and what must hold of the session afterwards. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { asks, says } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { messagesOf, postJson, type WireMessage } from '../../support/programs/product.ts'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { completions, say } from '../scene.ts'

const STEPS = 14

/** What one session's clients know. */
export interface Told {
  /** What each of its messages begins with: the vendor tells sessions apart by it. */
  tag: string
  /** Its path. */
  session: string
  /** Accepted for certain: their answer has begun. */
  accepted: Set<string>
  /** Taken out for certain. */
  removed: Set<string>
  /** Every order in which messages were seen to wait. */
  orders: string[][]
  streams: SseStream[]
  /** Its deletion was asked for: whether it was made is read afterwards. */
  isDeleted: boolean
}

export const newTold = (tag: string, session: string): Told => ({
  tag,
  session,
  accepted: new Set(),
  removed: new Set(),
  orders: [],
  streams: [],
  isDeleted: false,
})

type OnBusy = 'enqueue' | 'steer' | 'interrupt'

async function send(told: Told, url: string, content: string, on_busy: OnBusy): Promise<void> {
  const body = { ...say(content), on_busy }
  const stream = await openSse(completions(url, told.session), body).catch(() => null)
  if (stream?.status === 200) {
    told.accepted.add(content)
    told.streams.push(stream)
  }
}

interface Waiting {
  id: string
  content: string
}

async function look(told: Told, url: string): Promise<Waiting[]> {
  const response = await fetch(`${url}${told.session}/queue`).catch(() => null)
  const queue: Waiting[] = response?.ok ? Object(await response.json()).queue : []
  if (queue.length > 0) told.orders.push(queue.map(({ content }) => content))
  return queue
}

async function removeOne(told: Told, url: string, random: () => number): Promise<void> {
  const queue = await look(told, url)
  const chosen = queue[Math.floor(random() * queue.length)]
  if (chosen === undefined) return
  const answer = await fetch(`${url}${told.session}/queue/${chosen.id}`, { method: 'DELETE' }).catch(() => null)
  // What answers nothing may have taken it out: such a message may be answered, or not.
  if (answer === null) told.accepted.delete(chosen.content)
  else if (answer.status === 204) told.removed.add(chosen.content)
}

/** The calls that wait for a decision. */
async function pendingOf(told: Told, url: string): Promise<{ call_id: string }[]> {
  const response = await fetch(`${url}${told.session}`).catch(() => null)
  return response?.ok ? Object(await response.json()).pending : []
}

/** Approves or rejects what waits; the reply that follows is not waited for. */
async function decide(told: Told, url: string, decision: 'approve' | 'reject'): Promise<void> {
  const pending = await pendingOf(told, url)
  if (pending.length === 0) return
  const decisions = pending.map(({ call_id }) => ({ call_id, decision }))
  void postJson(`${url}${told.session}/actions`, { decisions }).catch(() => {})
}

async function deleteSession(told: Told, url: string): Promise<void> {
  told.isDeleted = true
  await fetch(`${url}${told.session}`, { method: 'DELETE' }).catch(() => null)
}

/** `deletes`: at some point the session is deleted. */
export async function runSchedule(told: Told, urls: readonly string[], random: () => number, deletes: boolean) {
  const deletesAt = deletes ? Math.floor(random() * STEPS) : STEPS
  const sends: Promise<void>[] = []
  for (let n = 0; n < STEPS; n++) {
    const url = urls[Math.floor(random() * urls.length)] ?? ''
    const what = random()
    const kind = random()
    const content = `${told.tag} ${kind < 0.15 ? 'buy ' : kind < 0.3 ? 'check ' : ''}m${n}`
    if (n === deletesAt) await deleteSession(told, url)
    else if (what < 0.5) sends.push(send(told, url, content, 'enqueue'))
    else if (what < 0.6) sends.push(send(told, url, content, 'steer'))
    else if (what < 0.65) await postJson(`${completions(url, told.session)}/cancel`, {}).catch(() => null)
    else if (what < 0.8) await removeOne(told, url, random)
    else if (what < 0.95) await decide(told, url, random() < 0.7 ? 'approve' : 'reject')
    else await look(told, url)
    await pause(random() * 300)
  }
  // One that is still on its way would be counted by some of the looks that follow, and not by others.
  await Promise.all(sends)
}

/** An agent of this vendor's: the calls of `web_fetch` wait for a decision, those of `current_time` do not. */
export async function giveTools(url: string, agentId: string): Promise<void> {
  const body = {
    httpToolIds: [],
    mcpServers: [],
    builtInToolIds: ['web_fetch', 'current_time'],
    approvals: ['web_fetch'],
  }
  const headers = { 'content-type': 'application/json' }
  const put = { method: 'PUT', headers, body: JSON.stringify(body) }
  expect((await fetch(`${url}/api/v1/agents/${agentId}/tools`, put)).status).toBe(200)
}

const toolOf = (asked: string) => {
  if (asked.includes(' buy ')) return { name: 'web_fetch', arguments: '{"url":"http://127.0.0.1:1/"}' }
  return asked.includes(' check ') ? { name: 'current_time', arguments: '{}' } : null
}

/**
 * A vendor whose answers name what they answer; one to `buy …` or `check …` asks for a tool first. It tells when two replies
 * of a session run at once: one goes on though another has begun.
 */
export function watchfulVendor() {
  /** The call that runs, by the session's tag. */
  const running = new Map<string, { isOvertaken: boolean }>()
  const overlaps: string[] = []
  return {
    overlaps,
    async answer(call: UpstreamCall): Promise<void> {
      const messages: { role: string; content: string }[] = call.body.messages
      // Messages that follow each other, the reply between them being empty, come as one.
      const asked =
        messages
          .findLast(({ role }) => role === 'user')
          ?.content.split('\n\n')
          .at(-1) ?? ''
      const tag = asked.split(' ', 1)[0] ?? ''
      const earlier = running.get(tag)
      if (earlier) earlier.isOvertaken = true
      const own = { isOvertaken: false }
      running.set(tag, own)
      for (let n = 0; n < 3 && !call.abandoned; n++) {
        await call.comment()
        await pause(20)
      }
      // A reply that was cancelled is gone by then, however late this process learns of it.
      if (own.isOvertaken) await Promise.race([call.closed, pause(5000)])
      if (running.get(tag) === own) running.delete(tag)
      if (call.abandoned) return
      if (own.isOvertaken) overlaps.push(asked)
      const tool = messages.at(-1)?.role === 'user' ? toolOf(asked) : null
      await (tool === null ? says(`re ${asked}`) : asks(`tool for ${asked}. `, tool))(call)
    },
  }
}

/** Resolves once nothing runs and nothing waits; calls that wait are approved. */
export async function settled(told: Told, url: string): Promise<void> {
  const left = async () => {
    const messages = await messagesOf(url, told.session)
    await decide(told, url, 'approve')
    const queue = await look(told, url)
    const streaming = messages.filter(({ status }) => status === 'streaming')
    return [queue.length, streaming.length, (await pendingOf(told, url)).length]
  }
  await expect.poll(left, { timeout: 60_000 }).toEqual([0, 0, 0])
}

/** Each message is there once, in its place, with its own answer. */
export async function check(told: Told, url: string): Promise<void> {
  const messages = await messagesOf(url, told.session)
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  expect(new Set(questions).size, 'none is stored twice').toBe(questions.length)
  for (const { question, replies } of exchanges(messages)) {
    expect(replies.length, `${question} is answered`).toBeGreaterThan(0)
    for (const reply of replies.slice(0, -1)) {
      expect(reply.finish_reason, `${question} is answered once`).toBe('tool_calls')
    }
    const last = replies.at(-1)
    if (last?.finish_reason === 'stop') expect(last.content).toContain(`re ${question}`)
  }
  for (const content of told.accepted) {
    if (!told.removed.has(content)) expect(questions, `${content} is answered`).toContain(content)
  }
  for (const content of told.removed) expect(questions, `${content} was taken out`).not.toContain(content)
  for (const order of told.orders) {
    const begun = order.filter((content) => questions.includes(content))
    expect(questions.filter((content) => begun.includes(content))).toEqual(begun)
  }
}

/** Each message of the user's with what follows it. */
function exchanges(messages: readonly WireMessage[]): { question: string; replies: WireMessage[] }[] {
  const found: { question: string; replies: WireMessage[] }[] = []
  for (const message of messages) {
    if (message.role === 'user') found.push({ question: message.content, replies: [] })
    else found.at(-1)?.replies.push(message)
  }
  return found
}
