import type { Take } from '../../src/actors/ports.ts'

/** Takes everything, at once, into a list. */
export const into =
  <Item>(list: Item[]): Take<Item> =>
  (items) => {
    list.push(...items)
    return undefined
  }
