/** Sessions to search in. */
import { expect } from 'vitest'
import type { Sql } from '../../../src/persistence/postgres/database.ts'

/** Waits until all messages are searchable. */
export async function allIndexed(sql: Sql): Promise<void> {
  const left = async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::integer as n from messages m where m.status <> 'streaming'
         and not exists (select 1 from message_signatures w where w.message_id = m.id)`
    return row?.n
  }
  await expect.poll(left).toBe(0)
}

/** Asks again while the search is refused for its time: two seconds may be short where others use the machine. */
export async function inTime<Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask()
  const again = async () => {
    if (answer.status === 503) answer = await ask()
    return answer.status
  }
  await expect.poll(again).not.toBe(503)
  return answer
}

/** Returns texts as the messages that a session begins with. */
export const asMessages = (texts: readonly string[]) =>
  texts.map((content, n) => ({ role: n % 2 === 0 ? ('user' as const) : ('assistant' as const), content }))
