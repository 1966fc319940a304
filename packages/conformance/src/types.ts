/** The words of the suite: what an adapter offers, what a check needs, how a check ends. */
import type { Model } from './model/server.ts'

export const verbs = ['createConversation', 'send', 'follow', 'read', 'cancel', 'remove'] as const
/** A thing that an adapter can do. */
export type Verb = (typeof verbs)[number]
/** A thing that a check needs. `followEnded`: that `follow` serves replies that have ended. */
export type Need = Verb | 'followEnded'

export const levels = ['stream', 'resume', 'durable', 'cluster'] as const
export type Level = (typeof levels)[number]

export type End = 'complete' | 'cancelled' | 'error'

/** A piece of a reply, as a reader receives it. */
export interface Item {
  /** The position that a reader comes back with. Pieces without one cannot be come back to. */
  id: string
  text?: string
  end?: End
  /** The reply's name, which `follow` is given later. */
  reply?: string
}

export interface Message {
  role: 'user' | 'assistant'
  status: End | 'running'
  text: string
}

/** The server that a verb is asked of. */
export interface Target {
  url: string
  url2: string | null
  agent: string | null
  key: string | null
  /** The check's end: aborts when it is over. */
  signal: AbortSignal
}

export interface SendOptions {
  /** The key under which the same message sent again is the same message. */
  key?: string | undefined
  signal?: AbortSignal | undefined
}

/** The facts that an adapter may set a server up with. */
export interface Setting {
  url: string
  modelUrl: string
  agent: string | null
  key: string | null
  /** `user:password` */
  login: string | null
}

/** A module that speaks a server's protocol. Those of its functions are called whose verbs it offers. */
export interface Adapter {
  name: string
  offers: readonly Verb[]
  /** True if a reply whose process ended is generated further: the model may be called again. */
  continues?: boolean
  /** False if `follow` serves running replies alone. */
  followsEnded?: boolean
  /** Sets the server up for the suite's model. Resolves to the agent that the checks talk to. */
  configure?(setting: Setting): Promise<string | null>
  createConversation(target: Target): Promise<string>
  send(conversation: string, text: string, options: SendOptions, target: Target): AsyncIterable<Item>
  follow?(conversation: string, reply: string, afterId: string | null, target: Target): AsyncIterable<Item>
  /** Reads a conversation. Without a `role` a message is the user's where its text is one that was sent. */
  read?(conversation: string, target: Target): Promise<(Omit<Message, 'role'> & Partial<Message>)[]>
  cancel?(conversation: string, reply: string, target: Target): Promise<void>
  remove?(conversation: string, target: Target): Promise<void>
}

/** The means of a check. */
export interface Context {
  adapter: Omit<Required<Adapter>, 'read'> & { read(conversation: string, target: Target): Promise<Message[]> }
  model: Model
  target: Target
  /** The other instance, at level `cluster`. */
  other: Target
  signal: AbortSignal
  server: ServerControl
  /** Returns a message for the model, which no other check sends. */
  ask(rule: string): string
}

export interface ServerControl {
  kill(): Promise<void>
  /** Resolves when the server answers again. */
  start(): Promise<void>
}

export interface Check {
  id: string
  level: Level
  /** The rule, as a sentence. */
  rule: string
  /** The reason for a user to care. */
  reason: string
  needs: readonly Need[]
  run(context: Context): Promise<void>
}

export type Result = 'pass' | 'fail' | 'not offered' | 'error'

export interface Outcome {
  id: string
  level: Level
  result: Result
  ms: number
  message: string | null
}
