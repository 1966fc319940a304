/** How many lists somebody follows, on all instances together (contract section 35). */
import type { Sql } from '../../../persistence/postgres/database.ts'

export interface FollowedLists {
  subject: string
  /** A number that rises with each statement of this instance. */
  number: number
  /** The lists on this instance. */
  lists: number
  /** The number of lists that may be followed on all instances. Null stores `lists` as it is. */
  most: number | null
  /** An earlier statement may be carried out yet. */
  keeps: boolean
}

export interface FollowedStore {
  /** Returns false when it would be too many. */
  store(followed: FollowedLists): Promise<boolean>
}

export const createFollowedStore = (sql: Sql, instance: { id: string; epoch(): number }): FollowedStore => ({
  async store({ subject, number, lists, most, keeps }) {
    const [row] = await sql<{ isStored: boolean }[]>`
      select follow_lists(${instance.id}, ${instance.epoch()}, ${number}, ${subject}, ${lists}, ${most}, ${keeps}) as "isStored"`
    return row?.isStored === true
  },
})

/** Forgets the lists of instances that are gone. */
export async function forgetFollowedLists(sql: Sql): Promise<void> {
  await sql`
    delete from followed_lists f
     where not exists (select from instances i where i.id = f.instance_id and i.epoch = f.epoch)`
}
