/** Requests of the chaos clients, to any instance or through nginx, and readers of their responses. */
import { setTimeout as pause } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { deployUrl } from '../../../support/programs/product.ts'
import type { Manner } from '../chaos-model.ts'
import { type ChaosAgent, newSessionSeen, type SessionSeen, type Watch, type Witness } from '../chaos-witness.ts'

/** One user message, and the responses to its attempts. */
export interface Send {
  marker: string
  /** The model's behaviour; random by default. */
  manner?: Manner
  session: SessionSeen
  key: string | null
  tries: Try[]
}

export interface Try {
  /** `refused`: certainly not stored. `unknown`: stored or not. */
  outcome: 'accepted' | 'refused' | 'unknown'
  status: number | null
  /** The reply to it. */
  reply: string | null
  /** The whole content, if it was not streamed. */
  content: string | null
}

export interface Crowd {
  /** URLs of the instances. */
  urls: readonly string[]
  balancer: string
  /** The first one's replies end with their instance. */
  agents: readonly [ChaosAgent, ...ChaosAgent[]]
  witness: Witness
  sends: Send[]
  sessions: SessionSeen[]
  counts: Map<string, number>
  /** No new messages from now on. */
  closing: AbortSignal
  /** All clients disconnect. */
  over: AbortSignal
}

/** A client that waits for longer gives up. */
const LONGEST_WAIT_MS = 15_000
/**
 * A stream may be silent while its owner is suspended (at most 5 s), is declared lost (two leases), restarts, or retries
 * its model call (1.5 s); if silent for longer, it was forgotten.
 */
const SILENCE_MS = 14_000
/** One that goes on may be lost twice before it says anything more. */
const LOSSES = 3
export const count = ({ counts }: Pick<Crowd, 'counts'>, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1)

export const baseOf = ({ urls, balancer }: Crowd, random: () => number): string =>
  [...urls, balancer, balancer][Math.floor(random() * (urls.length + 2))] ?? balancer

export const pathOf = ({ agent, id }: SessionSeen): string => `${deployUrl('', agent.id)}/sessions/${id}`

/** Null when there is no response. Any other status is a violation. */
export async function ask(
  crowd: Crowd,
  session: SessionSeen | null,
  url: string,
  init: RequestInit,
  expected: readonly number[],
): Promise<Response | null> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), LONGEST_WAIT_MS)
  const signal = AbortSignal.any([late.signal, crowd.over, ...(init.signal ? [init.signal] : [])])
  const answer = await fetch(url, { ...init, signal }).catch(() => null)
  clearTimeout(timer)
  if (answer === null) {
    count(crowd, 'no answer')
    return null
  }
  const isGone = answer.status === 404 && session !== null && session.deletion !== 'none'
  // nginx returns 502 and 504 when it reaches no instance; 503: the database is unavailable, or the instance drains.
  const isKnown = expected.includes(answer.status) || [502, 503, 504].includes(answer.status) || isGone
  if (!isKnown) {
    const detail = `${init.method ?? 'GET'} ${url}: ${answer.status} ${await answer.clone().text().catch(String)}`
    crowd.witness.violations.push({ rule: 'status', session: session?.id ?? '', detail })
  }
  if (answer.status >= 400) count(crowd, `answer ${answer.status}`)
  return answer
}

export const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** With an agent by chance; retried until there is one. Null when the run has ended. */
export async function openSession(crowd: Crowd, random: () => number): Promise<SessionSeen | null> {
  const agent = crowd.agents[Math.floor(random() * crowd.agents.length)] ?? crowd.agents[0]
  while (!crowd.over.aborted) {
    const answer = await ask(crowd, null, `${deployUrl(baseOf(crowd, random), agent.id)}/sessions`, post({}), [201])
    const body: unknown = answer?.status === 201 ? await answer.json().catch(() => null) : null
    await answer?.body?.cancel().catch(() => {})
    if (body !== null) {
      const session = newSessionSeen(String(Object(body).id), agent)
      crowd.sessions.push(session)
      return session
    }
    await pause(200)
  }
  return null
}

type End = 'over' | 'dropped' | 'broken'

/** Reads frames into the watch until the end, or until `frames` have arrived: then it disconnects. */
export async function readFrames(
  crowd: Crowd,
  { answer, agent }: { answer: Response; agent: ChaosAgent },
  watch: Watch,
  frames: number,
): Promise<End> {
  const silenceMs = agent.goesOn ? LOSSES * SILENCE_MS : SILENCE_MS
  let taken = 0
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      taken += 1
      watch.take({ id, event, data })
    },
  })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let isForgotten = false
  const silence = setTimeout(() => {
    isForgotten = true
    watch.silent(silenceMs)
    void reader?.cancel().catch(() => {})
  }, silenceMs)
  const read = async (): Promise<End> => {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      silence.refresh()
      if (value !== undefined) parser.feed(value)
      if (taken >= frames) return 'dropped'
      if (done) return 'over'
    }
  }
  const end = await read().catch(() => 'broken' as const)
  clearTimeout(silence)
  if (end === 'over' && !isForgotten) watch.ended()
  await reader?.cancel().catch(() => {})
  count(crowd, `streams ${end}`)
  return end
}

/** Follows the newest reply to its end over any number of connections, most of them dropped. */
export async function follow(
  crowd: Crowd,
  session: SessionSeen,
  random: () => number,
  from: number | 'ahead',
  base?: string,
): Promise<boolean> {
  let after = from
  while (!crowd.over.aborted) {
    const headers: Record<string, string> = after === 0 ? {} : { 'last-event-id': `${after === 'ahead' ? 1e9 : after}` }
    const url = `${base ?? baseOf(crowd, random)}${pathOf(session)}/chat/completions/stream`
    const leaving = new AbortController()
    const answer = await ask(crowd, session, url, { headers, signal: leaving.signal }, [200, 204])
    if (answer?.status === 200) {
      count(crowd, after === 0 ? 'replays' : 'resumes')
      const watch = crowd.witness.watch(session, after)
      await readFrames(
        crowd,
        { ...session, answer },
        watch,
        base === undefined ? framesUntilDrop(random) : Number.POSITIVE_INFINITY,
      )
      leaving.abort()
      if (watch.isOver) return true
      if (watch.last > 0) after = watch.last
    } else {
      await answer?.body?.cancel().catch(() => {})
      if (answer?.status === 204 || answer?.status === 404) return false
    }
    await pause(20 + random() * 200)
  }
  return false
}

/** After so many frames a client drops its connection. */
export const framesUntilDrop = (random: () => number): number =>
  random() < 0.4 ? 1 + Math.floor(random() * 20) : Number.POSITIVE_INFINITY
