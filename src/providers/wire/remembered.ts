/** A cache of facts about models that calls have found out. A fact that was dropped is found out again. */
import { LRUCache } from 'lru-cache'

export type Remembered<Fact extends NonNullable<unknown>> = LRUCache<string, Fact>

/** Creates an empty cache. It keeps the 1,000 facts that were used last. */
export const createRemembered = <Fact extends NonNullable<unknown>>(): Remembered<Fact> => new LRUCache({ max: 1000 })
