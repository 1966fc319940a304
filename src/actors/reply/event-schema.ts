/**
 * The events that a reply may emit while it runs. Everything here is stored before anyone sees it: as JSON, for months,
 * and sent between instances that may be of two releases. An event has no version, since its kind names its form. A
 * field that is added is optional, so that what was stored before is still read; to change or remove a field, add a
 * kind. test/persistence/replies/stored/stored-json.test.ts keeps a record of each kind.
 */
import Type, { type Static } from 'typebox'

/** An MCP server whose tools are missing from a reply, and why. */
const MissingServer = Type.Object({
  mcpServerId: Type.String(),
  server: Type.String(),
  reason: Type.Union([
    Type.Literal('unreachable'),
    Type.Literal('unauthorized'),
    Type.Literal('invalid'),
    Type.Literal('no_user'),
    Type.Literal('no_value'),
  ]),
})
export type MissingServer = Static<typeof MissingServer>

/**
 * A decision that was remembered and covers a call. `at`: ISO 8601 UTC. `name`: who decided; null: nobody with a name.
 */
const DecidedBefore = Type.Object({
  id: Type.String(),
  decision: Type.Union([Type.Literal('approve'), Type.Literal('reject')]),
  at: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
})
export type DecidedBefore = Static<typeof DecidedBefore>

/** The questions of an MCP server to its user, while it carries out a call (contract section 27). */
const ServerAsked = Type.Object({
  server: Type.String(),
  questions: Type.Array(
    Type.Object({
      /** The server's name for it. */
      key: Type.String(),
      message: Type.String(),
      /** JSON text of the form's schema, as the server sent it. Absent where a page is to be visited. */
      schema: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      /** Present where the page is our own, on which the user begins to sign in at the server. */
      signIn: Type.Optional(Type.Literal(true)),
    }),
  ),
  /** The server's `requestState`, encrypted. Absent where it sent none. */
  state: Type.Optional(Type.String()),
  /** A hash of the address that asked: no other one is sent the answers. */
  of: Type.String(),
})
export type ServerAsked = Static<typeof ServerAsked>

/** The schema of each kind. Fields that a later release may add are allowed. */
export const eventSchemas = {
  text: Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  /** Only where the request asked for it. It is no part of the content, and no later model call shows it. */
  reasoning: Type.Object({ type: Type.Literal('reasoning'), text: Type.String() }),
  /**
   * `startedAt` is ISO 8601 UTC. `waits`: it is not made in this reply, which ends until it is decided. Fields that its
   * tool adds (`CallNotes`) stand beside these: the capability of the tool reads them, and nobody else.
   */
  tool_call: Type.Object({
    type: Type.Literal('tool_call'),
    id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
    startedAt: Type.String(),
    waits: Type.Optional(Type.Union([Type.Literal('approval'), Type.Literal('caller')])),
    by: Type.Optional(DecidedBefore),
    /**
     * The identity of the agent's tool; null: no tool has the name. Absent for calls of the caller's tools, and in
     * older replies.
     */
    tool: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  /** A call of an earlier reply was approved and is made in this one. Stored before it acts. */
  tool_begun: Type.Object({ type: Type.Literal('tool_begun'), id: Type.String(), startedAt: Type.String() }),
  /** The result of a call of this reply, or of one that it continues. `denied`: the call was rejected. */
  tool_result: Type.Object({
    type: Type.Literal('tool_result'),
    id: Type.String(),
    ok: Type.Boolean(),
    content: Type.String(),
    durationMs: Type.Number(),
    denied: Type.Optional(Type.Literal(true)),
  }),
  /**
   * The server asks before it answers a call: the reply ends until it is told. `asked`: absent in a copy, where nobody
   * may answer.
   */
  tool_asked: Type.Object({ type: Type.Literal('tool_asked'), id: Type.String(), asked: Type.Optional(ServerAsked) }),
  /** The mark of a call whose instance was lost before a result was stored: nobody knows whether it took effect. */
  tool_unknown: Type.Object({ type: Type.Literal('tool_unknown'), id: Type.String() }),
  /**
   * The model of the events that follow. A reply without one is all its own model's (`ReplyInfo`). `missing`: the MCP
   * servers that the reply goes without from here on; absent where that does not change.
   */
  model: Type.Object({
    type: Type.Literal('model'),
    model: Type.String(),
    providerId: Type.String(),
    missing: Type.Optional(Type.Array(MissingServer)),
  }),
}

export type ReplyEventKind = keyof typeof eventSchemas
export type ReplyEvent = { [Kind in ReplyEventKind]: Static<(typeof eventSchemas)[Kind]> }[ReplyEventKind]

const isKind = (name: string): name is ReplyEventKind => name in eventSchemas
export const replyEventKinds: readonly ReplyEventKind[] = Object.keys(eventSchemas).filter(isKind)
