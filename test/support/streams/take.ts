import type { Take } from '../../../src/actors/ports/index.ts'

/** Collects everything into a list, without back-pressure. */
export const into =
  <Item>(list: Item[]): Take<Item> =>
  (items) => {
    list.push(...items)
    return undefined
  }
