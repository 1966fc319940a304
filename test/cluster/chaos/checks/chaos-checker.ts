/**
 * The invariants of a chaos run: the clients' records, the model's calls and the stored messages must be consistent.
 * Pure; `chaos-checker.test.ts` shows that it detects each violation.
 */
import { type ModelCall, markerIn, textOf, wordOf } from '../chaos-model.ts'
import type { FrameKind, SessionSeen, Violation } from '../chaos-witness.ts'
import type { Send } from '../clients/chaos-requests.ts'

export interface StoredMessage {
  id: string
  session: string
  position: number
  role: 'user' | 'assistant'
  status: string
  content: string
  finish: string | null
  code: string | null
  firstSeq: number | null
  /** UTF-8 bytes. */
  frameEnds: number[] | null
  includeUsage: boolean | null
  /** How often it was gone on with behind a loss. */
  seams: number
}

export interface Evidence {
  sessions: readonly SessionSeen[]
  sends: readonly Send[]
  calls: readonly ModelCall[]
  stored: ReadonlyMap<string, readonly StoredMessage[]>
}

export function check(evidence: Evidence): Violation[] {
  const sends = Map.groupBy(evidence.sends, ({ session }) => session.id)
  const calls = Map.groupBy(evidence.calls, ({ marker }) => marker)
  const found = checkCalls(calls, seamsOf(evidence))
  for (const session of evidence.sessions) {
    const rows = evidence.stored.get(session.id) ?? []
    const fault: Fault = (rule, detail) => void found.push({ rule, session: session.id, detail })
    if (session.deletion === 'done') {
      if (rows.length > 0) fault('deleted', `${rows.length} messages are still stored`)
      continue
    }
    checkOrder(rows, fault)
    checkSends(sends.get(session.id) ?? [], rows, fault)
    checkShown(session, rows, fault)
    for (const [index, row] of rows.entries()) {
      if (row.role !== 'assistant') continue
      const marker = markerIn(rows[index - 1]?.content ?? '') ?? ''
      checkReply(row, calls.get(marker) ?? [], session, fault)
    }
  }
  return found
}

type Fault = (rule: string, detail: string) => void

const brief = (row: StoredMessage): string =>
  JSON.stringify({ ...row, content: row.content.slice(-120), frameEnds: row.frameEnds?.length })

/** How often the reply to each message was gone on with. Of a deleted one that is not known. */
function seamsOf({ stored, sends }: Evidence): (marker: string) => number {
  const known = new Map<string, number>()
  for (const { session, marker } of sends) {
    if (session.agent.goesOn && session.deletion === 'done') known.set(marker, Number.POSITIVE_INFINITY)
  }
  for (const rows of stored.values()) {
    for (const [index, { role, seams }] of rows.entries()) {
      if (role === 'assistant') known.set(markerIn(rows[index - 1]?.content ?? '') ?? '', seams)
    }
  }
  return (marker) => known.get(marker) ?? 0
}

/** One call with output for each turn of a model, and one more for each seam at most: nothing else is generated twice. */
function checkCalls(byMarker: Map<string, ModelCall[]>, seamsOf: (marker: string) => number): Violation[] {
  const found: Violation[] = []
  for (const [marker, calls] of byMarker) {
    for (const [turn, of] of Map.groupBy(calls, (call) => call.turn)) {
      const yielded = of.filter(({ words, end }) => words > 0 || end === 'tool')
      if (yielded.length > 1 + seamsOf(marker)) {
        const detail = `${marker}, turn ${turn}: ${JSON.stringify(yielded)}`
        found.push({ rule: 'generated-once', session: '', detail })
      }
    }
  }
  return found
}

/** Questions and replies alternate, ids have no gap over the life of the session. */
function checkOrder(rows: readonly StoredMessage[], fault: Fault): void {
  let nextSeq = 1
  for (const [index, row] of rows.entries()) {
    if (row.position !== index || row.role !== (index % 2 === 0 ? 'user' : 'assistant')) fault('order', brief(row))
    if (row.role !== 'assistant') continue
    if (row.firstSeq !== nextSeq) fault('ids', `${brief(row)} should begin with ${nextSeq}`)
    nextSeq = (row.firstSeq ?? 0) + framesOf(row).length
  }
  if (rows.length % 2 === 1) fault('order', `the last message has no reply: ${JSON.stringify(rows.at(-1))}`)
}

/** Accepted: stored once, with one reply. Refused: not stored. No response: stored at most once. */
function checkSends(sends: readonly Send[], rows: readonly StoredMessage[], fault: Fault): void {
  const places = Map.groupBy(rows.filter(({ role }) => role === 'user').keys(), (n) => rows[2 * n]?.content ?? '')
  for (const send of sends) {
    const text = textOf(send.marker, send.manner)
    const stored = places.get(text) ?? []
    places.delete(text)
    const told = JSON.stringify({ ...send, session: undefined })
    const isAccepted = send.tries.some(({ outcome }) => outcome === 'accepted')
    const isRefused = send.tries.every(({ outcome }) => outcome === 'refused')
    if (stored.length > 1) fault('stored-once', `${stored.length} times: ${told}`)
    if (isAccepted && stored.length === 0) fault('stored-once', `accepted and not stored: ${told}`)
    if (isRefused && stored.length > 0) fault('refused', `refused and stored: ${told}`)
    const reply = rows[2 * (stored[0] ?? 0) + 1]
    for (const one of send.tries) {
      if (stored.length !== 1 || one.reply === null) continue
      if (one.reply !== reply?.id) fault('one-reply', `${told} has the reply ${reply?.id}`)
      else if (one.content !== null && one.content !== reply.content) {
        fault('whole', `${one.content.slice(-120)} was answered, ${brief(reply)} is stored`)
      }
    }
  }
  for (const text of places.keys()) fault('stored-once', `nobody sent ${text.slice(0, 100)}`)
}

interface Expected {
  kind: FrameKind
  text: string
}

/** The frames of a settled reply, from its first id. */
function framesOf(row: StoredMessage): Expected[] {
  const bytes = Buffer.from(row.content)
  const ends = row.frameEnds ?? []
  const texts = ends.map((end, n) => ({ kind: 'text', text: bytes.toString('utf8', ends[n - 1] ?? 0, end) }) as const)
  const last: Expected[] =
    row.status === 'error'
      ? [{ kind: 'error', text: row.code ?? '' }]
      : [
          { kind: 'finish', text: row.finish === 'cancelled' ? 'stop' : (row.finish ?? '') },
          ...(row.includeUsage ? [{ kind: 'usage', text: '' } as const] : []),
          { kind: 'done', text: '' },
        ]
  return [{ kind: 'role', text: '' }, ...texts, ...last]
}

/** Whatever any client saw is stored now, under the same id. */
function checkShown(session: SessionSeen, rows: readonly StoredMessage[], fault: Fault): void {
  const expected = new Map<number, Expected & { reply: string }>()
  for (const row of rows) {
    if (row.firstSeq === null) continue
    for (const [n, frame] of framesOf(row).entries()) expected.set(row.firstSeq + n, { ...frame, reply: row.id })
  }
  for (const [id, seen] of session.frames) {
    const stored = expected.get(id)
    const isSame =
      stored?.kind === seen.kind && stored.text === seen.text && (seen.reply === null || stored.reply === seen.reply)
    if (!isSame) fault('shown-is-stored', `id ${id}: ${JSON.stringify({ ...seen, stored })}`)
  }
  for (const message of session.messages.values()) {
    const row = rows.find(({ id }) => id === message.id)
    const isSettled = message.status !== 'streaming'
    const isSame = isSettled
      ? row?.content === message.content && row.status === message.status && row.finish === message.finish_reason
      : row?.content.startsWith(message.content)
    if (!isSame) fault('listed-is-stored', `${JSON.stringify(message).slice(-300)}, stored: ${row && brief(row)}`)
  }
}

const statusOf = (finish: string | null): string => (finish === 'error' ? 'error' : 'complete')

/** One outcome that matches the model's behaviour, and the words of one call for each turn, in order and complete. */
function checkReply(row: StoredMessage, calls: readonly ModelCall[], session: SessionSeen, fault: Fault): void {
  if (row.status === 'streaming') {
    fault('settled', brief(row))
    return
  }
  if (row.finish === null || row.status !== statusOf(row.finish)) fault('outcome', brief(row))
  if (row.frameEnds?.at(-1) !== undefined && row.frameEnds.at(-1) !== Buffer.byteLength(row.content)) {
    fault('outcome', `frame ends do not cover the content: ${brief(row)}`)
  }
  const tale = JSON.stringify(calls)
  const used = wordsOf(row, calls)
  if (typeof used === 'string') {
    fault('words', `${used}: ${brief(row)}, calls ${tale}`)
    return
  }
  const last = calls.at(-1)
  if (row.finish === 'stop' || row.finish === 'length') {
    const lastWords = used.at(-1)
    const isWhole = last?.end === row.finish && lastWords?.call === last && lastWords.words === last.words
    if (!isWhole) fault('whole', `${brief(row)}, calls ${tale}`)
  }
  if (row.finish === 'cancelled' && session.cancels === 0) fault('outcome', `nobody cancelled ${brief(row)}`)
  if (row.code?.startsWith('provider_') && last?.end !== 'refused' && last?.end !== 'broke') {
    fault('outcome', `${brief(row)}, calls ${tale}`)
  }
}

/** Splits the words by call. At a seam a later call goes on with the same turn. A string describes what is wrong with them. */
function wordsOf(
  { content, seams }: StoredMessage,
  calls: readonly ModelCall[],
): string | { call: ModelCall; words: number }[] {
  const used: { call: ModelCall; words: number }[] = []
  let left = seams
  let at = 0
  for (const { 0: word, 1: number, 2: n } of content.matchAll(/c(\d+)\.(\d+)\S* /g)) {
    let part = used.at(-1)
    if (part?.call.number !== Number(number)) {
      const call = calls.find((one) => one.number === Number(number))
      if (!call) return `call ${number} was for another message`
      const fault = part && faultBetween(part, call)
      if (part && fault) {
        if (left === 0 || !goesOn(part.call, call, calls)) return fault
        left -= 1
      }
      part = { call, words: 0 }
      used.push(part)
    }
    part.words += 1
    if (Number(n) !== part.words || word !== wordOf(part.call.number, part.words)) return `${word} is out of order`
    if (part.words > part.call.words) return `${word} was never said`
    if (!content.startsWith(word, at)) return `there is something before ${word}`
    at += word.length
  }
  return at === content.length ? used : `there is something behind ${at}`
}

/** Why words of this call cannot follow those, where there is no seam between them. Null when they can. */
function faultBetween(before: { call: ModelCall; words: number }, { turn, number }: ModelCall): string | null {
  const { call, words } = before
  if (call.turn >= turn) return `calls ${call.number} and ${number} are mixed`
  return call.end === 'tool' && words === call.words ? null : `call ${call.number} ends early`
}

/** Whether a turn that was interrupted may have gone on with the other call, or with one that said nothing before its tool. */
function goesOn(before: ModelCall, other: ModelCall, calls: readonly ModelCall[]): boolean {
  if (before.turn >= other.turn) return before.turn === other.turn && before.number < other.number
  return calls.some(
    ({ number, turn, words, end }) => turn === before.turn && number > before.number && words === 0 && end === 'tool',
  )
}
