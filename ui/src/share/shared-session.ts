/** A shared session as its page follows it: read once, or again and again where the share is live. */
import type { components } from '../../../openapi/generated/schema.ts'
import { ApiError, createClient, ReplyError } from '../../../packages/client/src/index.ts'
import { type LiveReply, newReply, type ShownMessage, withEvents } from '../playground/connection/live-reply.ts'

export interface SharedAddress {
  agentId: string
  sessionId: string
  token: string
}

export interface SharedSession {
  title: string | null
  messages: readonly ShownMessage[]
}

/** The interval of looks for new messages. */
const LOOK_MS = 4000

/** Reads the address: the path names the session, and the fragment holds the token. Null for another one. */
export function addressIn({ pathname, hash }: { pathname: string; hash: string }): SharedAddress | null {
  const [, agentId, sessionId] = /^\/share\/([^/]+)\/([^/]+)\/?$/.exec(pathname) ?? []
  const token = hash.slice(1)
  return agentId && sessionId && /^sh_[\w-]+$/.test(token) ? { agentId, sessionId, token } : null
}

/** Reports the session as it is read, until the signal ends it. Rejects with `ApiError` where the token is not good. */
export async function followShared(
  { agentId, sessionId, token }: SharedAddress,
  onSession: (session: SharedSession) => void,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  const session = createClient({ baseUrl: '', headers, credentials: 'omit' }).agent(agentId).session(sessionId)
  const read = async () => {
    const [{ title }, messages] = await Promise.all([session.record(), session.messages()])
    const shown = { title, messages: messages.map((message) => shownOf(message, token)) }
    if (!signal.aborted) onSession(shown)
    return shown
  }
  const follow = async ({ title, messages }: SharedSession) => {
    const before = messages.slice(0, -1)
    let live: LiveReply = newReply(null, messages.at(-1)?.createdAt ?? '')
    for await (const event of session.resume(null, 0, { signal })) {
      live = withEvents(live, [event], performance.now())
      const last = messages.find(({ id }) => id === live.id)
      if (last !== undefined && live.content.length + live.reasoning.length > 0)
        onSession({ title, messages: [...before, { ...last, ...textsOf(live, last), status: 'streaming' }] })
    }
  }
  for (let isLive: boolean | null = null; !signal.aborted; ) {
    const shown = await read()
    isLive ??= await isFollowed(
      `/api/v1/agents/${agentId}/deploy/sessions/${sessionId}/chat/completions/stream`,
      headers,
    )
    if (!isLive) return
    if (shown.messages.at(-1)?.status !== 'streaming') await pause(LOOK_MS, signal)
    else
      await follow(shown).catch((error: unknown) => {
        if (!(error instanceof ReplyError)) throw error // how it failed is stored
      })
  }
}

const textsOf = (live: LiveReply, { content, reasoning = '' }: ShownMessage) => ({
  content: live.content.length >= content.length ? live.content : content,
  ...(live.reasoning.length >= reasoning.length && { reasoning: live.reasoning }),
})

/** Returns whether the share is live: else its stream is refused. */
async function isFollowed(stream: string, headers: Record<string, string>): Promise<boolean> {
  const ending = new AbortController()
  const { status } = await fetch(stream, { headers, credentials: 'omit', signal: ending.signal })
  ending.abort()
  return status !== 403
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

type StoredMessage = components['schemas']['DeployMessage']

function shownOf(message: StoredMessage, token: string): ShownMessage {
  const {
    id,
    role,
    content,
    status,
    finish_reason,
    created_at,
    reasoning,
    parts = [],
    tool_calls = [],
    error,
  } = message
  return {
    ...{ id, role, content, status, finishReason: finish_reason, createdAt: created_at },
    error: error ? { code: error.code, message: error.message } : null,
    ...(reasoning !== undefined && { reasoning }),
    parts: parts.map(({ type, url, media_type, filename, size }) => ({
      ...{ type, filename, size, mediaType: media_type },
      url: `${url}?access_token=${token}`,
    })),
    toolCalls: tool_calls.map((call) => ({ ...call, startedAt: null, durationMs: null })),
  }
}

/** Returns the sentence in the place of a session that cannot be shown. */
export const sentenceFor = (error: unknown): string =>
  error instanceof ApiError && [401, 403, 404].includes(error.status)
    ? 'This link does not lead to a shared conversation any longer: it has expired or was revoked.'
    : 'The conversation could not be loaded: try again in a moment.'
