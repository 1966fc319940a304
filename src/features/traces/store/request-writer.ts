/** Encodes a model request for storage: one writer for each reply, one memory for the process. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { HistoryMessage, ModelRequest, SentRequest, SentSummary } from '../../../actors/ports/index.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'
import { removeSecrets } from '../../../untrusted/redact.ts'
import { encodeRequest, type Known, type MessageName, type Reference } from './request-references.ts'

/** The requests of one reply. */
export interface RequestWriter {
  /** Writes a request. Returns null when the turn's newest request was the same. */
  write(turn: number, request: ModelRequest, body: object): SentRequest | null
}

/** Prompts and tool definitions that this process has sent for storing: most replies share a few. */
export interface StoredTexts {
  /** Returns the text's hash, and whether the text is to be stored again. */
  look(text: string): { hash: string; isDue: boolean }
}

const MOST_TEXTS = 1000
/** Texts count as used to the day; see `used_at`. */
const AGAIN_MS = 6 * 3_600_000

export function createStoredTexts(): StoredTexts {
  const seen = new LRUCache<string, { hash: string; at: number }>({ max: MOST_TEXTS })
  return {
    look(text) {
      const now = performance.now()
      const known = seen.get(text)
      if (known && now - known.at < AGAIN_MS) return { hash: known.hash, isDue: false }
      const hash = known?.hash ?? createHash('sha256').update(text).digest('hex')
      seen.set(text, { hash, at: now })
      return { hash, isDue: true }
    },
  }
}

/** Shorter keys are words: masking them would remove ordinary text. */
const SHORTEST_KEY = 6

/** Returns a function that removes the provider's key from a text. It returns null for a text without the key. */
function maskFor({ provider }: ModelRequest): (text: string) => string | null {
  const key = provider.apiKey?.trim() ?? ''
  if (key.length < SHORTEST_KEY) return () => null
  return (text) => (text.includes(key) ? removeSecrets(text, [key]) : null)
}

/** The function that cuts a tool's stored result as shown to a model, and returns the note added after it. */
type CutText = (text: string) => { shown: string; added: string }

export function createRequestWriter(stored: StoredTexts, cutText: CutText): RequestWriter {
  let sources: Sources | null = null
  // All of the reply's: a request that another one replaces may have been the only one with them.
  const texts: SentRequest['texts'][number][] = []
  let last = { turn: 0, body: '', providerId: '' }
  return {
    write(turn, request, body) {
      sources ??= createSources(request, cutText)
      sources.own(request)
      const keep = (content: string): string => {
        const { hash, isDue } = stored.look(content)
        if (isDue) texts.push({ hash, content })
        return hash
      }
      if (request.history?.summary) sources.summary(request.history.summary)
      if (request.system) sources.prompt(request.system, keep)
      const tools: unknown = 'tools' in body ? body.tools : undefined
      const json = JSON.stringify(tools)
      const encoded = encodeRequest(body, sources.known(turn), {
        mask: maskFor(request),
        tools: json === undefined ? null : ['j', keep(json)],
      })
      const providerId = request.provider.id
      if (last.turn === turn && last.body === encoded.body && last.providerId === providerId) return null
      last = { turn, body: encoded.body, providerId }
      sources.learn(turn, encoded.words)
      const historyFrom = oldestSent(request)
      return {
        turn,
        at: new Date(),
        providerId,
        model: request.model,
        body: encoded.body,
        texts,
        historyFrom,
        left: request.history?.left ?? null,
      }
    },
  }
}

/**
 * Returns the position of the oldest message that was sent. A continued reply has the user's message among the earlier
 * ones; it is always sent.
 */
function oldestSent({ history }: ModelRequest): number | null {
  const asked = history?.isContinued ? history.earlier.at(-1) : undefined
  return history?.first?.position ?? asked?.position ?? null
}

type Sources = ReturnType<typeof createSources>

/** Creates the places at which the texts of one reply's requests are stored. */
function createSources({ history, messages }: ModelRequest, cutText: CutText) {
  const texts = new Map<string, Reference>()
  const objects = new Map<string, Reference>()
  const inOrder: { text: string; reference: string | Reference }[] = []
  const summaries = new Set<string>()
  const words = new Map<string, ['w', number, number]>()
  let read = 0
  let ownLength = 0
  const counts = { calls: 0, results: 0 }

  function add(text: string, reference: Reference): void {
    inOrder.push({ text, reference })
    if (!texts.has(text)) texts.set(text, reference)
  }
  function addArguments(text: string, name: MessageName, n: number): void {
    if (!texts.has(text)) texts.set(text, ['a', name, n])
    const json = normalized(text)
    if (json !== null && !objects.has(json)) objects.set(json, ['o', name, n])
  }

  for (const message of history?.earlier ?? []) addStored(message, { add, addArguments, cutText })
  if (history && !history.isContinued) add(history.asked, ['m', 'asked'])
  return {
    /** Adds what this reply has generated since: it is stored with the reply. */
    own(request: ModelRequest): void {
      if (history?.isContinued) return
      const said = request.messages.slice(request.history?.count ?? messages.length)
      for (const message of said.slice(read)) {
        if (message.role === 'tool') add(message.content, ['r', 'own', counts.results++])
        else if (message.role === 'assistant') {
          add(message.content, ['m', 'own', ownLength, ownLength + message.content.length])
          ownLength += message.content.length
          for (const call of message.toolCalls ?? []) addArguments(call.arguments, 'own', counts.calls++)
        }
      }
      read = said.length
    },
    /** Stands before all others. Its own words are few. */
    summary({ id, pieces: [before, summary, after] }: SentSummary): void {
      if (summaries.has(id)) return
      summaries.add(id)
      const made = { text: summary, reference: ['s', id] satisfies Reference }
      inOrder.unshift({ text: before, reference: before }, made, { text: after, reference: after })
    },
    prompt(text: string, keep: (text: string) => string): void {
      texts.set(text, ['t', keep(text)])
    },
    /** Adds the words of a turn's request. They replace those of an earlier request of that turn. */
    learn(turn: number, all: readonly string[]): void {
      for (const [text, [, of]] of words) if (of === turn) words.delete(text)
      for (const [n, text] of all.entries()) if (!words.has(text)) words.set(text, ['w', turn, n])
    },
    known: (turn: number): Known => ({
      inOrder,
      find(text) {
        const reference = texts.get(text) ?? words.get(text)
        return reference?.[0] === 'w' && reference[1] === turn ? undefined : reference
      },
      findObject: (json) => objects.get(json),
    }),
  }
}

/** Returns an object's JSON in the normal form. Null if it is none. */
function normalized(text: string): string | null {
  try {
    const value = parseExact(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : null
  } catch {
    return null
  }
}

interface Adding {
  add(text: string, reference: Reference): void
  addArguments(text: string, name: MessageName, n: number): void
  cutText: CutText
}

/** Adds the texts as which a stored message may be sent: whole, or in the pieces between its tool calls. */
function addStored({ position, content, toolEvents }: HistoryMessage, adding: Adding): void {
  const { add, addArguments } = adding
  if (position === undefined) return
  if (!toolEvents?.length) {
    add(content, ['m', position])
    return
  }
  const bytes = Buffer.from(content)
  let [shown, from, calls, results] = [0, 0, 0, 0]
  const addPiece = (end: number) => {
    const text = bytes.toString('utf8', shown, end)
    if (text !== '') add(text, ['m', position, from, from + text.length])
    from += text.length
    shown = end
  }
  for (const { end, event } of toolEvents) {
    switch (event.type) {
      case 'tool_call':
        addPiece(end)
        addArguments(event.arguments, position, calls++)
        break
      case 'tool_result':
        addResult(event.content, position, results++, adding)
        break
      default:
        event satisfies never
    }
  }
  addPiece(bytes.length)
}

function addResult(content: string, position: number, n: number, { add, cutText }: Adding): void {
  const { shown, added } = cutText(content)
  if (added === '') add(content, ['r', position, n])
  else add(`${shown}${added}`, ['+', [['r', position, n, 0, shown.length], added]])
}
