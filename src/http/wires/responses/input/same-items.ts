/** Comparison of items that a caller sends with those that a conversation holds (contract section 32). Pure. */
import type { PartIdentity } from '../../../../actors/ports/index.ts'
import { partPath, type SentPart } from '../../../../features/parts/index.ts'
import type { StoredItem, Where } from '../output/stored-items.ts'
import type { StoredTurn } from '../store/stored-inputs.ts'
import type { InputItem } from './input-items.ts'

/** The contents of parts: of a sent one, and of a stored one by its path. */
export type Contents = ReadonlyMap<SentPart | string, PartIdentity>

const unknown: Contents = new Map()

/** Returns what two items have to share to count as the same, as text. Null for an item that no model is shown. */
export function sentKey(item: InputItem, contents = unknown): string | null {
  switch (item.kind) {
    case 'user': {
      const { text, parts } = item.message
      const kept = sentContents(parts, contents)
      return kept && key('user', text, kept)
    }
    case 'assistant':
      return key('assistant', item.text)
    case 'call':
      return key('call', item.callId, item.name, item.arguments)
    case 'output': {
      const kept = sentContents(item.parts, contents)
      return kept && key('output', item.callId, item.output, kept)
    }
    case 'approval':
    case 'instructions':
    case 'reference':
    case 'compaction':
    case 'aside':
      return null
    default:
      return item satisfies never
  }
}

/** Returns what parts hold, and their places. Null where contents are not known: they are not compared with stored ones. */
function sentContents(parts: readonly SentPart[], contents: Contents): unknown[] | null {
  const kept = parts.map((part) => [contents.get(part) ?? contentOf(part.source, contents), part.place])
  return kept.some(([content]) => content === null) ? null : kept
}

function contentOf(source: SentPart['source'], contents: Contents): PartIdentity | string | null {
  if (source.kind === 'data') return { sha256: source.data.sha256 }
  if (source.kind === 'address') return { sourceUrl: source.url }
  return source.kind === 'path' ? (contents.get(source.path) ?? source.path) : null
}

/** Returns what the parts that a stored message's items show hold, by their paths. */
export function storedContents(turn: StoredTurn, where: Where): Contents {
  const own = turn.parts.map((part) => ({ messageId: turn.id, part }))
  const decided = turn.role === 'user' ? [] : [...turn.decisions, ...turn.answers]
  const ofOutputs = decided.flatMap(({ heldBy, parts }) => parts.map((part) => ({ messageId: heldBy, part })))
  return new Map(
    [...own, ...ofOutputs].map(({ messageId, part: { sourceUrl, sha256, n = 0 } }) => [
      partPath('deploy', { agentId: where.agentId, sessionId: where.sessionId, messageId, n: `${n}` }),
      sourceUrl === null ? { sha256 } : { sourceUrl },
    ]),
  )
}

const key = (...of: unknown[]): string => JSON.stringify(of)

/** Returns the same of a stored item. */
export function storedKey(item: StoredItem, contents = unknown): string | null {
  const { type, role, content, call_id, name, arguments: text, output }: Readonly<Record<string, unknown>> = { ...item }
  if (type === 'function_call') return key('call', call_id, name, text)
  if (type === 'function_call_output') {
    return Array.isArray(output)
      ? key('output', call_id, ...textAndParts(output, contents))
      : key('output', call_id, output, [])
  }
  if (type !== 'message' || !Array.isArray(content)) return null
  if (role === 'assistant') return key('assistant', content.map(textOf).join(''))
  return key('user', ...textAndParts(content, contents))
}

/** Returns the text of stored contents, and their parts. */
function textAndParts(content: readonly StoredContent[], contents: Contents): [string, unknown[]] {
  let said = ''
  const parts: unknown[] = []
  for (const part of content) {
    const path = part.image_url ?? part.file_data
    if (path === undefined) said += textOf(part)
    else parts.push([contents.get(path) ?? path, said.length])
  }
  return [said, parts]
}

interface StoredContent {
  text?: unknown
  image_url?: string
  file_data?: string
}

const textOf = (part: { text?: unknown }): string => (typeof part.text === 'string' ? part.text : '')

/** Returns whether a client may send this item again. */
export const isRepeatable = (item: StoredItem): boolean => storedKey(item) !== null

/** Returns the stored items that these repeat: the last ones, one for one. Null when they repeat none. */
export function repeatedAt(
  stored: readonly StoredItem[],
  sent: readonly InputItem[],
  contents: Contents,
): readonly StoredItem[] | null {
  const shown = stored.filter(isRepeatable)
  const wanted = sent.filter(({ kind }) => kind !== 'aside').map((item) => sentKey(item, contents))
  const last = shown.slice(-wanted.length)
  if (wanted.length === 0 || last.length !== wanted.length) return null
  return last.every((item, index) => storedKey(item, contents) === wanted[index]) ? last : null
}
