/** Comparison of items that a caller sends with those that a conversation holds (contract section 32). Pure. */
import type { StoredItem } from '../output/stored-items.ts'
import type { InputItem } from './input-items.ts'

/** Returns what two items have to share to count as the same, as text. Null for an item that no model is shown. */
export function sentKey(item: InputItem): string | null {
  switch (item.kind) {
    case 'user': {
      const { text, parts } = item.message
      // Bytes that are sent anew are not compared with stored ones.
      const kept = parts.map(({ source, place }) => (source.kind === 'path' ? [source.path, place] : [null, place]))
      return parts.some(({ source }) => source.kind !== 'path') ? null : key('user', text, kept)
    }
    case 'assistant':
      return key('assistant', item.text)
    case 'call':
      return key('call', item.callId, item.name, item.arguments)
    case 'output':
      return key('output', item.callId, item.output)
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

const key = (...of: unknown[]): string => JSON.stringify(of)

/** Returns the same of a stored item. */
export function storedKey(item: StoredItem): string | null {
  const { type, role, content, call_id, name, arguments: text, output }: Readonly<Record<string, unknown>> = { ...item }
  if (type === 'function_call') return key('call', call_id, name, text)
  if (type === 'function_call_output') return key('output', call_id, output)
  if (type !== 'message' || !Array.isArray(content)) return null
  if (role === 'assistant') return key('assistant', content.map(textOf).join(''))
  let said = ''
  const parts: unknown[] = []
  for (const part of content) {
    const path: unknown = part.image_url ?? part.file_data
    if (path === undefined) said += textOf(part)
    else parts.push([path, said.length])
  }
  return key('user', said, parts)
}

const textOf = (part: { text?: unknown }): string => (typeof part.text === 'string' ? part.text : '')

/** Returns the stored items that these repeat: the last ones, one for one. Null when they repeat none. */
export function repeatedAt(stored: readonly StoredItem[], sent: readonly InputItem[]): readonly StoredItem[] | null {
  const shown = stored.filter((item) => storedKey(item) !== null)
  const wanted = sent.filter(({ kind }) => kind !== 'aside').map(sentKey)
  const last = shown.slice(-wanted.length)
  if (wanted.length === 0 || last.length !== wanted.length) return null
  return last.every((item, index) => storedKey(item) === wanted[index]) ? last : null
}
