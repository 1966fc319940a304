/**
 * Items without ids of ours that repeat what a path holds (contract section 32): clients that send everything leave some
 * ids out.
 */
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { uuidIn } from '../output/ids.ts'
import { itemsOf, type StoredItem, type Where } from '../output/stored-items.ts'
import { readTurns } from '../store/stored-inputs.ts'
import type { InputItem } from './input-items.ts'
import { type Contents, sentKey, storedContents, storedKey } from './same-items.ts'

interface Known {
  item: InputItem
  /** The message that the item belongs to. */
  messageId: string
}

interface OnPath {
  messageId: string
  item: StoredItem
  contents: Contents
}

/**
 * Returns the message of the last stored item that these repeat, one for one, directly behind the known item. Null when
 * one of them differs.
 */
export async function lastRepeated(
  sql: Sql,
  where: Where,
  known: Known,
  repeats: readonly InputItem[],
): Promise<string | null> {
  const behind = await behindKnown(sql, where, known)
  if (behind === null) return null
  const shown = behind.filter(({ item, contents }) => storedKey(item, contents) !== null)
  const sent = repeats.filter(({ kind }) => kind !== 'aside' && kind !== 'instructions')
  const isSame = sent.every((item, index) => {
    const stored = shown[index]
    return stored !== undefined && storedKey(stored.item, stored.contents) === sentKey(item, stored.contents)
  })
  return isSame ? (shown[sent.length - 1]?.messageId ?? null) : null
}

/** Returns the items of the path behind a known one. Null when it is not on the path. */
async function behindKnown(sql: Sql, where: Where, { item, messageId }: Known): Promise<OnPath[] | null> {
  const found: OnPath[] = []
  for await (const turn of readTurns(sql, where.sessionId, 'desc')) {
    const contents = storedContents(turn, where)
    const items = itemsOf(turn, where).map((one) => ({ messageId: turn.id, item: one, contents }))
    const at = items.findLastIndex((one) => isItem(one.item, item))
    if (at >= 0) return [...items.slice(at + 1), ...found]
    found.unshift(...items)
    if (turn.id === messageId) return null
  }
  return null
}

/** Returns whether the stored item is the known one, by its id or the id of its call. */
function isItem(stored: StoredItem, { uuid, ...known }: InputItem): boolean {
  if (uuid !== null && uuidIn(stored.id) === uuid) return true
  return (
    known.kind === 'call' && stored.type === 'function_call' && 'call_id' in stored && stored.call_id === known.callId
  )
}
