/** A session's tree of messages, and the path through it that is shown. Pure. */
import type { components } from '../../../../openapi/generated/schema.ts'

type Message = components['schemas']['PlaygroundMessage']

/** A message on the path. */
export interface PathMessage extends Message {
  /** Ids of the messages that have its place on other branches, itself included, in the order they were made. */
  beside: readonly string[]
}

export interface Conversation {
  path: readonly PathMessage[]
  /** Ids of the messages of every branch. */
  ids: readonly string[]
}

/** Returns the messages from a first one to `lastId`, oldest first. */
export function pathTo<Of extends Pick<Message, 'id' | 'parentId'>>(
  messages: readonly Of[],
  lastId: string | null,
): Of[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const path: Of[] = []
  for (let at = lastId; at !== null; ) {
    const message = byId.get(at)
    if (message === undefined) break
    path.push(message)
    at = message.parentId
  }
  return path.reverse()
}

/**
 * Returns the conversation that ends at the head. `messages`: of every branch, in the order they were made. A head that
 * is not among them is newer than they are.
 */
export function conversationOf(messages: readonly Message[], headId: string | null): Conversation {
  const beside = new Map<string, string[]>()
  const keyOf = ({ parentId, role }: Message) => `${parentId} ${role}`
  for (const message of messages) {
    const known = beside.get(keyOf(message))
    if (known) known.push(message.id)
    else beside.set(keyOf(message), [message.id])
  }
  const head = messages.find(({ id }) => id === headId) ?? messages.at(-1)
  const path = pathTo(messages, head?.id ?? null)
  return {
    path: path.map((message) => ({ ...message, beside: beside.get(keyOf(message)) ?? [] })),
    ids: messages.map(({ id }) => id),
  }
}
