/**
 * What the clients of a chaos run saw, compared as they see it: an id has the same bytes for every reader, ids are
 * consecutive, and nothing that was shown is missing from a later read. Pure; keeps texts and hashes.
 */
import { createHash } from 'node:crypto'

export type FrameKind = 'role' | 'text' | 'finish' | 'usage' | 'done' | 'error'

export interface SeenFrame {
  kind: FrameKind
  /** Its reply's id; null if only the connection could tell. */
  reply: string | null
  /** The text, or the code of an error; else empty. */
  text: string
  /** SHA-1 of the bytes. */
  print: string
}

export interface ListedMessage {
  id: string
  role: string
  content: string
  status: string
  finish_reason: string | null
}

export interface ChaosAgent {
  id: string
  /** Its replies outlive their instance. */
  goesOn: boolean
}

export interface SessionSeen {
  id: string
  agent: ChaosAgent
  frames: Map<number, SeenFrame>
  /** All text shown to any client, by reply, up to the first gap. */
  shown: Map<string, { next: number; text: string }>
  /** The newest read of each message. */
  messages: Map<string, ListedMessage>
  cancels: number
  /** `asked`: its deletion was requested, and may or may not have taken effect. */
  deletion: 'none' | 'asked' | 'done'
  /** The newest id seen by any client. */
  newest: number
}

export interface Violation {
  rule: string
  session: string
  detail: string
}

/** One connection's frames. `after`: its Last-Event-ID; `ahead` for an id that was never shown. */
export interface Watch {
  readonly last: number
  readonly isOver: boolean
  take(frame: { id: string | undefined; event: string | undefined; data: string }): void
  /** The body ended properly. */
  ended(): void
  /** Nothing has arrived for so long (milliseconds), not even an end. */
  silent(ms: number): void
}

export const newSessionSeen = (id: string, agent: ChaosAgent = { id: '', goesOn: false }): SessionSeen => ({
  id,
  agent,
  frames: new Map(),
  shown: new Map(),
  messages: new Map(),
  cancels: 0,
  deletion: 'none',
  newest: 0,
})

export interface Witness {
  violations: Violation[]
  framesCompared: number
  watch(session: SessionSeen, after: number | 'ahead'): Watch
  /** Call it before requesting the messages, and the returned function with the response. */
  list(session: SessionSeen): (messages: readonly ListedMessage[]) => void
}

const closing: readonly FrameKind[] = ['finish', 'usage', 'done', 'error']

export function createWitness(): Witness {
  const violations: Violation[] = []
  const witness: Witness = {
    violations,
    framesCompared: 0,
    watch: (session, after) => watch(witness, session, after),
    list: (session) => list(witness, session),
  }
  return witness
}

const report = ({ violations }: Witness, session: SessionSeen, rule: string, detail: string) =>
  void violations.push({ rule, session: session.id, detail })

/** Kind, reply and text of a frame's data. Throws on anything that may not occur in a stream. */
export function readFrame(data: string): Omit<SeenFrame, 'print'> {
  if (data === '[DONE]') return { kind: 'done', reply: null, text: '' }
  const { id, error, choices } = JSON.parse(data)
  if (error) return { kind: 'error', reply: null, text: String(error.code) }
  const reply = String(id).replace(/^chatcmpl-/, '')
  if (choices.length === 0) return { kind: 'usage', reply, text: '' }
  const [{ delta, finish_reason: finish }] = choices
  if (finish !== null) return { kind: 'finish', reply, text: String(finish) }
  if (delta.role === 'assistant') return { kind: 'role', reply, text: '' }
  if (typeof delta.content !== 'string') throw new Error('no content')
  return { kind: 'text', reply, text: delta.content }
}

function watch(witness: Witness, session: SessionSeen, after: number | 'ahead'): Watch {
  let last: number | null = null
  let reply: string | null = null
  let isOver = false
  const fault = (rule: string, detail: string) => report(witness, session, rule, `after ${after}: ${detail}`)

  function begins(id: number, kind: FrameKind): boolean {
    if (after === 'ahead' || id === after + 1) return true
    if (kind === 'role') return id > after
    // A finished reply always sends its end, whatever id the reader resumes from.
    return closing.includes(kind) && id <= after
  }
  return {
    get last() {
      return last ?? (after === 'ahead' ? 0 : after)
    },
    get isOver() {
      return isOver
    },
    take({ id: idText, event, data }) {
      const id = Number(idText)
      const where = `${idText} ${data.slice(0, 300)}`
      if (!Number.isInteger(id) || id < 1 || event !== undefined) return fault('frame', where)
      let frame: Omit<SeenFrame, 'print'>
      try {
        frame = readFrame(data)
      } catch {
        return fault('frame', where)
      }
      if (isOver) fault('end', `more after the end: ${where}`)
      if (last !== null && id !== last + 1) fault('ids', `${last} is followed by ${where}`)
      const isDeletion = frame.kind === 'error' && frame.text === 'session_deleted'
      if (last === null && !isDeletion && !begins(id, frame.kind)) fault('ids', `begins with ${where}`)
      if (frame.reply !== null && reply !== null && frame.reply !== reply) fault('mixed', where)
      reply ??= frame.reply
      last = id
      isOver = frame.kind === 'done' || frame.kind === 'error'
      if (!isDeletion) keep(witness, session, id, { ...frame, reply: frame.reply ?? reply }, data)
      else if (session.deletion === 'none') fault('deleted', `nobody deleted it: ${where}`)
    },
    silent(ms) {
      if (!isOver) fault('silent', `nothing for ${ms} ms behind ${last}`)
    },
    ended() {
      if (!isOver) fault('end', `looks finished behind ${last} and is not`)
    },
  }
}

function keep(witness: Witness, session: SessionSeen, id: number, frame: Omit<SeenFrame, 'print'>, data: string): void {
  const print = createHash('sha1').update(data).digest('base64')
  const known = session.frames.get(id)
  witness.framesCompared += 1
  if (known && known.print !== print) {
    const both = `${JSON.stringify(known)} and ${data.slice(0, 300)}`
    report(witness, session, 'same-bytes', `id ${id} was ${both}`)
    return
  }
  if (!known) session.frames.set(id, { ...frame, print })
  else known.reply ??= frame.reply
  session.newest = Math.max(session.newest, id)
  if (frame.reply === null) return
  if (frame.kind === 'role' && !session.shown.has(frame.reply)) {
    session.shown.set(frame.reply, { next: id + 1, text: '' })
  }
  const shown = session.shown.get(frame.reply)
  for (let next = shown && session.frames.get(shown.next); shown && next?.kind === 'text'; ) {
    shown.text += next.text
    shown.next += 1
    next = session.frames.get(shown.next)
  }
}

const isSettled = ({ status }: ListedMessage): boolean => status !== 'streaming'

/** Whether one is a prefix of the other. */
const agree = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one)

function list(witness: Witness, session: SessionSeen): ReturnType<Witness['list']> {
  const shownBefore = new Map([...session.shown].map(([reply, { text }]) => [reply, text.length]))
  const before = new Map(session.messages)
  const fault = (rule: string, detail: string) => report(witness, session, rule, detail)
  return (messages) => {
    const listed = new Set(messages.map(({ id }) => id))
    for (const { id } of before.values()) if (!listed.has(id)) fault('messages', `${id} is missing`)
    for (const message of messages) {
      const { id, content } = message
      const shown = session.shown.get(id)?.text ?? ''
      const told = JSON.stringify({ ...message, content: content.slice(-200) })
      if (content.length < (shownBefore.get(id) ?? 0) || !agree(content, shown)) {
        fault('stored-before-shown', `of ${told} somebody had been shown …${shown.slice(-200)}`)
      }
      const earlier = before.get(id)
      if (earlier && !goesOn(earlier, message)) {
        fault('only-grows', `${JSON.stringify({ ...earlier, content: earlier.content.slice(-200) })} became ${told}`)
      }
      const known = session.messages.get(id)
      if (!known || isSettled(message) || (!isSettled(known) && content.length > known.content.length)) {
        session.messages.set(id, message)
      }
    }
  }
}

/** Content only grows until the outcome; then nothing changes. */
function goesOn(earlier: ListedMessage, later: ListedMessage): boolean {
  if (!isSettled(earlier)) return later.content.startsWith(earlier.content)
  const { status, finish_reason: finish, content } = later
  return status === earlier.status && finish === earlier.finish_reason && content === earlier.content
}
