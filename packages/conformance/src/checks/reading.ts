/** The steps that checks are made of: talk, read, wait. */
import { setTimeout as pause } from 'node:timers/promises'
import { awaited, expect, Failure, isUnreachable, refusedWith, wordsOf } from '../failures.ts'
import type { Call } from '../model/server.ts'
import type { Context, End, Item, Message, SendOptions, Target } from '../types.ts'

/** The pause between two looks at what is waited for. */
const EVERY_MS = 50

export interface Received {
  items: Item[]
  text: string
  ends: End[]
  /** The reply's name; empty before the first piece that tells it. */
  reply: string
}

const emptied = (): Received => ({ items: [], text: '', ends: [], reply: '' })

/** Reads to the end of the stream. */
export async function receive(stream: AsyncIterable<Item>, into: Received = emptied()): Promise<Received> {
  for await (const item of stream) {
    into.items.push(item)
    into.text += item.text ?? ''
    if (item.end !== undefined) into.ends.push(item.end)
    into.reply ||= item.reply ?? ''
  }
  return into
}

/** A conversation with its first reply, which runs on. */
export interface Running {
  conversation: string
  asked: string
  /** The pieces received so far. */
  received: Received
  /** A promise of the whole stream, or of what came before it broke. Rejects when it was refused, or nobody was there. */
  over: Promise<Received>
  /** Resolves when so many words have come, in as many pieces as the server likes. */
  words(count: number): Promise<void>
  leave(): void
}

export async function startReply(context: Context, rule: string, options: SendOptions = {}): Promise<Running> {
  const { adapter, target } = context
  const conversation = await adapter.createConversation(target)
  return { conversation, ...sendIn(context, conversation, context.ask(rule), options) }
}

/** Sends a message and reads its reply in the background. */
export function sendIn(
  { adapter, target, signal }: Context,
  conversation: string,
  asked: string,
  options: SendOptions = {},
): Omit<Running, 'conversation'> {
  const leaving = new AbortController()
  const received = emptied()
  const stream = adapter.send(conversation, asked, { ...options, signal: leaving.signal }, target)
  let isOver = false
  const over = receive(stream, received)
    .catch((error: unknown) => {
      if (refusedWith(error) !== null || isUnreachable(error)) throw error
      return received
    })
    .finally(() => {
      isOver = true
    })
  over.catch(() => {}) // told to those who wait for it
  return {
    asked,
    received,
    over,
    async words(count) {
      await until(
        signal,
        () => `${count} words, got ${wordsIn(received)}`,
        () => isOver || wordsIn(received) >= count,
      )
      if (wordsIn(received) >= count) return
      await over
      throw new Failure(`The stream ended after ${wordsIn(received)} words: expected at least ${count}.`)
    },
    leave: () => leaving.abort(),
  }
}

const wordsIn = ({ text }: Received): number => text.split(' ').length - 1

/** Waits until it holds. The check's own time limit ends the wait; `what` says what was expected and what has come. */
export async function until(
  signal: AbortSignal,
  what: () => string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  awaited.set(signal, what)
  while (!(await holds())) {
    signal.throwIfAborted()
    await pause(EVERY_MS)
  }
  awaited.delete(signal)
}

/** Waits until the model is called for the message no more. */
export const untilLeft = ({ model, signal }: Context, asked: string): Promise<void> =>
  until(
    signal,
    () => 'the model’s call to end after the cancel, and it goes on',
    () => model.callsFor(asked).every(({ state }) => state !== 'running'),
  )

export const repliesIn = (messages: readonly Message[]): Message[] =>
  messages.filter(({ role }) => role === 'assistant')

/** Reads until no reply of the conversation runs, and there are so many. */
export async function settled(context: Context, conversation: string, count = 1, target?: Target): Promise<Message[]> {
  const { adapter, signal } = context
  let messages: Message[] = []
  await until(
    signal,
    () => {
      const statuses = repliesIn(messages).map(({ status }) => status)
      return `${count} stored repl${count === 1 ? 'y' : 'ies'} that ended, got ${statuses.join(', ') || 'none'}`
    },
    async () => {
      messages = await adapter.read(conversation, target ?? context.target)
      const replies = repliesIn(messages)
      return replies.length >= count && replies.every(({ status }) => status !== 'running')
    },
  )
  return messages
}

export const follow = (
  context: Context,
  { conversation, received }: Running,
  afterId: string | null,
  at = context.target,
) => receive(context.adapter.follow(conversation, received.reply, afterId, at))

/** Expects one end, and that one. */
export function expectEnd({ ends }: Received, wanted: readonly End[], what: string): void {
  expect(ends.length === 1, `${what}: expected one end, got ${ends.length === 0 ? 'none' : ends.join(', ')}.`)
  expect(
    wanted.some((end) => end === ends[0]),
    `${what}: expected the end ${wanted.join(' or ')}, got ${ends[0]}.`,
  )
}

/** Expects a refusal of the caller's request, or that it was taken. Returns which of the two. */
export async function isRefused(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return false
  } catch (error) {
    const status = refusedWith(error)
    if (status === null) throw error
    expect(status < 500, `Expected a refusal that blames the request: ${wordsOf(error)}`)
    return true
  }
}

export const callCount = (calls: readonly Call[]): string =>
  `${calls.length} model call${calls.length === 1 ? '' : 's'}`
