/** Changes of sessions as server-sent events (contract section 22). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { firstAbort } from '../../../async/first-abort.ts'
import { HttpError } from '../../../http/server/http-error.ts'
import { lastEventId } from '../../../http/streaming/reply-stream.ts'
import { openEventStream } from '../../../http/streaming/sse.ts'
import { createChangeTexts, type Show } from './change-text.ts'
import type { Follower, Followers } from './followers.ts'
import type { FollowQuery, SessionFeed } from './session-feed.ts'

export interface FeedDependencies {
  sessionFeed: SessionFeed
  followers: Followers
}

/** Sets the header of lists: behind this a stream goes on without a gap. Call it before the list is read. */
export async function tellPosition(feed: SessionFeed, reply: FastifyReply): Promise<void> {
  const position = await feed.position()
  if (position !== null) reply.header('x-last-event-id', `${position}`)
}

/** Returns the number behind which the stream begins. Null when it begins now. Throws 400. */
function givenPosition({ headers }: FastifyRequest, inQuery: string | undefined): number | null {
  const given = headers['last-event-id'] || inQuery
  return given === undefined || given === '' ? null : lastEventId(given)
}

export interface ChangeStream {
  agentId: string | null
  users: FollowQuery['users']
  children: boolean
  lastEventId: string | undefined
  /** The time at which it ends, in Unix seconds. Null when it has no end of its own. */
  endsAt: number | null
  show: Show
  follower: Follower
}

const textOf = createChangeTexts()

/** Ends when the client leaves, at `endsAt`, or when the agent is deleted. Throws 429 for one list too many. */
export async function sendChanges(
  { sessionFeed, followers }: FeedDependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { agentId, users, children, lastEventId: inQuery, endsAt, show, follower }: ChangeStream,
): Promise<void> {
  using _place = await followers.enter(follower)
  const given = givenPosition(request, inQuery)
  const position = await sessionFeed.position()
  if (position === null) {
    reply.header('retry-after', '1')
    throw new HttpError(503, 'Sessions are being written for long. Try again later.')
  }
  // One that lies ahead is of another database, or of one that was restored.
  const after = Math.min(given ?? position, position)
  reply.header('x-last-event-id', `${after}`)
  const stream = openEventStream(reply)
  const over = new AbortController()
  const timer = endsAt === null ? undefined : setTimeout(() => over.abort(), Math.max(0, endsAt * 1000 - Date.now()))
  const signal = firstAbort(stream.signal, over.signal)
  const query = { agentId, users, children, after, of: follower.id }
  try {
    for await (const changes of sessionFeed.follow(query, signal)) {
      await stream.write(changes.map((change) => textOf(change, show)).join(''))
    }
    if (!stream.signal.aborted) stream.end()
  } catch (error) {
    reply.log.warn({ err: error }, 'A stream of sessions broke off.')
    stream.destroy()
  } finally {
    clearTimeout(timer)
  }
}
