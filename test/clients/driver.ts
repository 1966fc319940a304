/**
 * What every client is asked to do, and what it tells. A driver (`drivers/`) does it with one client, as its users do;
 * it decides nothing and hides nothing. They are plain JavaScript: where types are checked their packages need not be.
 */

import type { ContentRow } from './rows.ts'

export interface Ask {
  baseURL: string
  apiKey: string
  messages: { role: 'user' | 'assistant' | 'system'; content: string | ContentPart[] }[]
  /** How often the client may try again by itself. */
  retries: number
  headers?: Record<string, string>
  /** Asks for the usage of a stream, where the client does not do so by itself. */
  usage?: boolean
  /** The caller brings a tool of its own, `lookup`. */
  tools?: boolean
}

export type ContentPart = { type: 'text'; text: string } | { type: 'image'; url: string }

export interface Told {
  text: string
  finish: string | null
  usage: { input: number; output: number } | null
  /** Tool calls that the client tells its caller of. */
  toolCalls: number
  /** What the client threw or told. `body`: the answer's, where the error carries it. */
  error: { name: string; status: number | null; message: string; body?: string | null } | null
}

export interface Watch {
  /** Called with each piece as the caller of the client gets it. */
  text?(piece: string): void
  /** Aborts in the way that the client offers. */
  signal?: AbortSignal
}

export interface Driver {
  /** As the table shows them. */
  name: string
  version: string
  /** What its users turn to for a stream put together; null when it has nothing of the kind. */
  helperName: string | null
  /** How usage of a stream is asked for. */
  usageBy: string
  /** False when a caller that leaves the stream's loop leaves the connection open. */
  aborts: boolean
  whole(ask: Ask, watch?: Watch): Promise<Told>
  stream(ask: Ask, watch?: Watch): Promise<Told>
  /** A stream that the client itself puts together. */
  helper(ask: Ask): Promise<Told>
  /**
   * An answer that keeps to a JSON Schema: `text` is the JSON of what the client parsed it into. When absent, it is not
   * tried.
   */
  structured?: (ask: Ask, schema: object) => Promise<Told>
  /** How its users ask for that. */
  structuredBy?: string
  /**
   * Runs the client's own loop, which calls the caller's tool `lookup` as the model asks, until there is an answer. When
   * absent, it has none.
   */
  loop?: (ask: Ask, lookup: (word: string) => string) => Promise<Told>
  /** What its users call that. */
  loopBy?: string
}

/** A client of the Responses API. */
export interface ResponsesDriver {
  name: string
  version: string
  /** What its users write to reach this server. */
  set: string
  /** How the client keeps a conversation. */
  keeps: string
  /** Who makes the calls of the caller's tools. */
  loopBy: string
  /** How a response is begun without waiting, and followed. Null where the client has no way of its own. */
  background: string | null
  /** How calls of the agent's tools are approved. Null where the client has no way of its own. */
  approves: string | null
  /** Begins a conversation. */
  talk(to: { baseURL: string; apiKey: string }): {
    /** Says it behind what was said before; resolves to the answer. */
    turn(
      text: string,
      how: { stream: boolean; lookup?: (word: string) => string; onText?: (piece: string) => void },
    ): Promise<string>
    /** Leaves its stream in the middle and goes on behind it; the numbers of all events, and the text. */
    inBackground?(text: string): Promise<{ text: string; numbers: number[] }>
    /** Approves the call that the agent asks about. */
    approving?(text: string): Promise<{ tool: string; text: string }>
  }
}

interface ContentAsk {
  /** Of the server. */
  server: string
  agentId: string
  /** Of the agent's deploy API. */
  baseURL: string
}

interface GivenFile {
  bytes: Buffer
  mediaType: string
  filename?: string
}

/** Sends a message with contents, as the client's users do; resolves to the text of the answer. */
export interface ContentDriver {
  name: string
  version: string
  /** What its users write. */
  how: Record<ContentRow, string>
  url(ask: ContentAsk, url: string): Promise<string>
  data(ask: ContentAsk, picture: GivenFile): Promise<string>
  pdf(ask: ContentAsk, document: GivenFile): Promise<string>
  schema(ask: ContentAsk, schema: object): Promise<string>
}

/** A conversation that the client keeps through `conversations.items`. */
export interface ConversationsSession {
  turn(text: string): Promise<string>
  id(): Promise<string>
  items(): Promise<{ type: string; role?: string; content?: unknown }[]>
  add(items: object[]): Promise<void>
  pop(): Promise<unknown>
  clear(): Promise<void>
}

export interface SessionDriver {
  open(base: { baseURL: string; apiKey: string }, lookup: (word: string) => string): ConversationsSession
}
