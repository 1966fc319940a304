/**
 * The readers of a running reply. A test awaits them before it lets the reply end, since a later reader joins nothing.
 */
import { expect } from 'vitest'

/** Waits until so many streams and waiting requests follow the reply of this session (its id or its path). */
export async function untilFollowed(origin: string, session: string, by: number): Promise<void> {
  const followers = async () => followersOf(origin, session)
  await expect.poll(followers).toBe(by)
}

/** Returns the number of readers; 0 for a session without a running reply. */
export async function followersOf(origin: string, session: string): Promise<number> {
  const { actors } = Object(await (await fetch(`${origin}/api/v1/debug/actors`)).json())
  const actor = actors.find(({ sessionId }: { sessionId: string }) => session.endsWith(sessionId))
  return actor?.subscribers ?? 0
}
