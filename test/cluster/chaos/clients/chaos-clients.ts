/**
 * The clients of a chaos run. Each session has one that sends messages, and others that follow, cancel, read, send in
 * between, drop connections and resume at random. What they receive goes to the witness; the fate of each message is
 * recorded in its `Send`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { textOf } from '../chaos-model.ts'
import type { SessionSeen } from '../chaos-witness.ts'
import { readRefusal } from './chaos-answers.ts'
import {
  ask,
  baseOf,
  type Crowd,
  count,
  follow,
  framesUntilDrop,
  openSession,
  pathOf,
  post,
  readFrames,
  type Send,
  type Try,
} from './chaos-requests.ts'

/** One attempt to send it. If its stream breaks off, `follow` reads on. */
async function attempt(crowd: Crowd, send: Send, random: () => number, fields: object): Promise<Try> {
  const { session, key } = send
  const isStreamed = random() < 0.7
  const interrupts = random() < 0.15
  // A request that may have taken effect before nginx tries another instance needs a key; see deploy/nginx.conf.
  const mayDouble = key === null && (!isStreamed || interrupts)
  const base = mayDouble ? (crowd.urls[Math.floor(random() * crowd.urls.length)] ?? '') : baseOf(crowd, random)
  const options = interrupts && key === null ? { on_busy: 'interrupt' } : {}
  if ('on_busy' in options) session.cancels += 1
  // The same key requires the same body.
  const body = { messages: [{ role: 'user', content: textOf(send.marker) }], ...fields, ...options }
  const stream = key === null ? isStreamed : Number(key.at(-1)) % 2 === 0
  const leaving = new AbortController()
  const init = { ...post({ ...body, stream }, key === null ? {} : { 'idempotency-key': key }), signal: leaving.signal }
  const one: Try = { outcome: 'unknown', status: null, reply: null, content: null }
  send.tries.push(one)
  count(crowd, stream ? 'messages streamed' : 'messages whole')
  const answer = await ask(crowd, session, `${base}${pathOf(session)}/chat/completions`, init, [200, 409, 500])
  if (answer === null) return one
  one.status = answer.status
  if (answer.status === 200 && stream) {
    one.outcome = 'accepted'
    const watch = crowd.witness.watch(session, 0)
    await readFrames(crowd, { ...session, answer }, watch, framesUntilDrop(random))
    leaving.abort()
    one.reply = session.frames.get(watch.last)?.reply ?? null
    if (!watch.isOver && random() < 0.8) await follow(crowd, session, random, watch.last)
    return one
  }
  await readAnswer(crowd, one, answer, base === crowd.balancer)
  return one
}

/** A response that is not streamed: the whole reply, or why there is none. */
async function readAnswer({ witness }: Crowd, one: Try, answer: Response, isBalanced: boolean): Promise<void> {
  const text = await answer.text().catch(() => null)
  if (answer.status === 200) {
    one.outcome = 'accepted'
    if (text === null) return
    const { id, choices } = JSON.parse(text)
    one.reply = String(id).replace(/^chatcmpl-/, '')
    one.content = String(choices[0].message.content)
    return
  }
  const { status, headers } = answer
  const { outcome, fault } = readRefusal({ status, text, headers, isBalanced })
  one.outcome = outcome
  if (fault !== null) witness.violations.push(fault)
}

/** Sends a message until it is accepted or refused. With a key it is resent without a response, and sometimes anyway. */
export async function say(crowd: Crowd, session: SessionSeen, marker: string, random: () => number): Promise<Send> {
  const key = random() < 0.35 ? `${marker}-${Math.floor(random() * 10)}` : null
  const send: Send = { marker, session, key, tries: [] }
  crowd.sends.push(send)
  const fields = random() < 0.2 ? { stream_options: { include_usage: true } } : {}
  for (let tries = 0; tries < 6 && !crowd.over.aborted; tries++) {
    const { outcome, status } = await attempt(crowd, send, random, fields)
    if (key === null || status === 409 || status === 404) break
    if (outcome === 'accepted' && random() < 0.7) break
    if (tries > 0) count(crowd, 'keys sent again')
    await pause(random() * 500)
  }
  return send
}

export async function readMessages(crowd: Crowd, session: SessionSeen, base: string): Promise<boolean> {
  const compare = crowd.witness.list(session)
  const answer = await ask(crowd, session, `${base}${pathOf(session)}/messages`, {}, [200])
  const body: unknown = await answer?.json().catch(() => null)
  if (answer?.status !== 200 || body === null) return false
  compare(Object(body).messages)
  count(crowd, 'message lists')
  return true
}

async function cancel(crowd: Crowd, session: SessionSeen, base: string): Promise<void> {
  session.cancels += 1
  const answer = await ask(crowd, session, `${base}${pathOf(session)}/chat/completions/cancel`, post({}), [204])
  await answer?.body?.cancel().catch(() => {})
  if (answer?.status === 204) count(crowd, 'cancels')
}

/** Repeated until it is certainly gone. */
async function remove(crowd: Crowd, session: SessionSeen, random: () => number): Promise<void> {
  session.deletion = 'asked'
  while (!crowd.over.aborted) {
    const url = `${baseOf(crowd, random)}${pathOf(session)}`
    const answer = await ask(crowd, session, url, { method: 'DELETE' }, [204])
    await answer?.body?.cancel().catch(() => {})
    if (answer?.status === 204 || answer?.status === 404) {
      session.deletion = 'done'
      count(crowd, 'deletions')
      return
    }
    await pause(100)
  }
}

/** The session's other clients. */
async function beside(crowd: Crowd, session: SessionSeen, marker: string, random: () => number): Promise<void> {
  await pause(random() * 1000)
  const kind = random()
  if (kind < 0.45) {
    const ids = [0, 'ahead', Math.floor(random() * (session.newest + 1)), session.newest] as const
    await follow(crowd, session, random, ids[Math.floor(random() * ids.length)] ?? 0)
  } else if (kind < 0.6) await cancel(crowd, session, baseOf(crowd, random))
  else if (kind < 0.75) await say(crowd, session, `${marker}1`, random)
  else for (let n = 0; n < 4; n++) await readMessages(crowd, session, baseOf(crowd, random))
}

/** Sends messages until the run closes. `place`: its number, from 0. */
export async function converse(crowd: Crowd, place: number, random: () => number): Promise<void> {
  let session = await openSession(crowd, random)
  for (let n = 1; session !== null && !crowd.closing.aborted; n++) {
    const marker = `m${place}.${n}0`
    const others: Promise<void>[] = []
    for (let other = Math.floor(random() * 3); other > 0; other--) {
      others.push(beside(crowd, session, `${marker}${other}`, random))
    }
    await say(crowd, session, marker, random)
    const leaves = random() < 0.01
    if (leaves) await remove(crowd, session, random)
    await Promise.all(others)
    if (leaves) {
      for (const seen of [session.frames, session.shown, session.messages]) seen.clear()
      session = await openSession(crowd, random)
    }
    await pause(random() * 300)
  }
}
