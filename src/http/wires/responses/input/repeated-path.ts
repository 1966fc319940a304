/**
 * Items without ids of ours that repeat what a path holds (contract section 32): clients that send everything leave some
 * ids out.
 */
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { uuidIn } from '../output/ids.ts'
import { itemsOf, type StoredItem } from '../output/stored-items.ts'
import type { Place } from '../store/places.ts'
import { readTurns, type StoredTurn } from '../store/stored-inputs.ts'
import type { InputItem } from './input-items.ts'
import { type Contents, sentKey, storedContents, storedKey } from './same-items.ts'

/** A known item, and the place behind its message. */
interface Known {
  item: InputItem
  place: Place
}

interface OnPath {
  turn: StoredTurn
  item: StoredItem
  contents: Contents
}

/**
 * Returns the place behind the last stored item that these repeat, one for one, directly behind the known item. Null when
 * one of them differs.
 */
export async function lastRepeated(sql: Sql, known: Known, repeats: readonly InputItem[]): Promise<Place | null> {
  const behind = await behindKnown(sql, known)
  const shown = behind.filter(({ item, contents }) => storedKey(item, contents) !== null)
  const sent = repeats.filter(({ kind }) => kind !== 'aside' && kind !== 'instructions')
  const isSame = sent.every((item, index) => {
    const stored = shown[index]
    return stored !== undefined && storedKey(stored.item, stored.contents) === sentKey(item, stored.contents)
  })
  const last = isSame ? shown[sent.length - 1]?.turn : undefined
  return last ? { ...known.place, replyId: last.id, position: last.position } : null
}

/** Returns the items of the path behind a known one. There are none when it is not on the path. */
async function behindKnown(sql: Sql, { item, place }: Known): Promise<OnPath[]> {
  const found: OnPath[] = []
  for await (const turn of readTurns(sql, place.sessionId, 'desc')) {
    const contents = storedContents(turn, place)
    const items = itemsOf(turn, place).map((one) => ({ turn, item: one, contents }))
    const at = items.findLastIndex((one) => isItem(one.item, item))
    if (at >= 0) return [...items.slice(at + 1), ...found]
    found.unshift(...items)
    if (turn.id === place.replyId) return []
  }
  return []
}

/** Returns whether the stored item is the known one, by its id or the id of its call. */
function isItem(stored: StoredItem, { uuid, ...known }: InputItem): boolean {
  if (uuid !== null && uuidIn(stored.id) === uuid) return true
  return (
    known.kind === 'call' && stored.type === 'function_call' && 'call_id' in stored && stored.call_id === known.callId
  )
}
