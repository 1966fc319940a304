import type { components } from '../../../../openapi/generated/schema.ts'
import { api } from '../../api.ts'
import type { SessionPlace } from '../../sessions/queries.ts'

interface AskFallback {
  session: SessionPlace
  fallback: components['schemas']['Agent']['fallbacks'][number]
}

/**
 * Stops the session's reply and asks a fallback of its agent for another one in its place. Resolves to the id of that one
 * once the server has begun it, or to null where there was no reply.
 */
export async function askFallback({ session: { id, agentId }, fallback }: AskFallback): Promise<string | null> {
  const session = api.playground(agentId).session(id)
  const newest = async () => (await session.messages({ limit: 2 })).findLast(({ role }) => role === 'assistant')
  await session.cancel()
  const silent = await newest()
  if (silent?.parentId == null) return null
  const leaving = new AbortController()
  const { providerId, model } = fallback
  const reply = session.regenerate(silent.parentId, {
    overrides: { providerId, model },
    signal: leaving.signal,
    onConnection: (state) => state === 'open' && leaving.abort(),
  })
  await reply.text().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error
  })
  return (await newest())?.id ?? null
}
