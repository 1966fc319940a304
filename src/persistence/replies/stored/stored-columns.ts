/**
 * Reads the columns of JSON of a message. They have no version: a field that is added to one of them is
 * optional, so that what was stored before is still read. stored-columns.test.ts keeps a record of each.
 */
import Type, { type Static } from 'typebox'
import type {
  Admitted,
  Continuation,
  ReasoningEffort,
  ReplyFacts,
  ReplyFigures,
  SentBefore,
} from '../../../actors/ports/index.ts'
import type { Counted, ShownCall } from '../../../actors/reply/reply-event.ts'
import { decoder, type SameFields } from '../../stored-json.ts'

const optionalOrNull = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const sentSchema = Type.Object({
  from: Type.Number(),
  estimated: Type.Number(),
  reported: Type.Union([Type.Number(), Type.Null()]),
  left: Type.Union([Type.Unsafe<NonNullable<SentBefore['left']>>(Type.String()), Type.Null()]),
})

const cutsSchema = Type.Object({
  messages: Type.Optional(Type.Array(Type.Number())),
  texts: Type.Optional(Type.Array(Type.Number())),
})

/** `messages.facts`: an admission stores some of them, the settlement the others. */
export const factsSchema = Type.Object({
  providerId: Type.Optional(Type.String()),
  prompt: optionalOrNull(Type.Object({ id: Type.String(), name: Type.String(), sha256: Type.String() })),
  overrides: optionalOrNull(Type.Record(Type.String(), Type.Unknown())),
  agentVersion: Type.Optional(Type.Union([Type.Number(), Type.Literal('draft')])),
  askedVersion: Type.Optional(Type.Union([Type.Number(), Type.Literal('draft')])),
  depth: Type.Optional(Type.Number()),
  queued: Type.Optional(Type.Boolean()),
  sentAs: Type.Optional(Type.String()),
  madeBy: Type.Optional(Type.String()),
  encoder: Type.Optional(Type.Number()),
  response: Type.Optional(
    Type.Object({
      encoder: Type.Optional(Type.Number()),
      background: Type.Boolean(),
      metadata: Type.Record(Type.String(), Type.String()),
      given: Type.Optional(Type.Number()),
      behind: Type.Optional(Type.String()),
      cuts: Type.Optional(cutsSchema),
      instructions: Type.Optional(Type.String()),
      maxOutputTokens: Type.Optional(Type.Number()),
      maxToolCalls: Type.Optional(Type.Number()),
      parallelToolCalls: Type.Optional(Type.Boolean()),
      toolChoice: Type.Optional(Type.Unknown()),
      tools: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
      format: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      effort: Type.Optional(Type.Unsafe<ReasoningEffort>(Type.String())),
      safetyIdentifier: Type.Optional(Type.String()),
      temperature: Type.Optional(Type.Number()),
      topP: Type.Optional(Type.Number()),
    }),
  ),
  counts: Type.Optional(
    Type.Object({
      key: Type.Optional(Type.String()),
      user: Type.Optional(Type.Literal(true)),
      top: Type.Optional(Type.String()),
    }),
  ),
  start: Type.Optional(Type.String()),
  values: Type.Optional(
    Type.Object({
      user: Type.Union([Type.String(), Type.Null()]),
      metadata: Type.Record(Type.String(), Type.String()),
    }),
  ),
  kept: Type.Optional(Type.Record(Type.String(), Type.String())),
  handedOver: Type.Optional(Type.String()),
  continuations: Type.Optional(
    Type.Array(
      Type.Object({
        frame_id: Type.Number(),
        offset: Type.Number(),
        at: Type.String(),
        reason: Type.Unsafe<Continuation['reason']>(Type.String()),
      }),
    ),
  ),
  firstTokenMs: optionalOrNull(Type.Number()),
  durationMs: Type.Optional(Type.Number()),
  attempts: Type.Optional(Type.Number()),
  refusal: Type.Optional(Type.String()),
  providerStatus: Type.Optional(Type.Number()),
  sent: Type.Optional(sentSchema),
  counted: Type.Optional(
    Type.Object({
      cachedTokens: Type.Optional(Type.Number()),
      cacheWriteTokens: Type.Optional(Type.Number()),
      reasoningTokens: Type.Optional(Type.Number()),
    }),
  ),
})

/** `messages.shown_calls` */
export const shownCallsSchema = Type.Array(
  Type.Object({ id: Type.String(), name: Type.String(), arguments: Type.String() }),
)

type Details = Omit<Counted, 'promptTokens' | 'completionTokens'>
/**
 * The facts that the admission notes of what it told and of the texts that it kept (by their hashes), and those of
 * take_over_reply.sql when a reply is taken over.
 */
type Noted = {
  values: NonNullable<Admitted['values']>
  kept: Record<string, string>
  handedOver: string
  continuations: Continuation[]
}
/** A check that does not compile if a type differs from its schema. */
true satisfies SameFields<
  Static<typeof factsSchema>,
  Partial<Omit<ReplyFacts, 'brought'> & ReplyFigures & Noted & { counted: Details }>
>
true satisfies SameFields<Static<typeof shownCallsSchema>, ShownCall[]>

/** The decoder of `response.cuts` in `messages.facts`. Null: the request was one message with one text. */
export const decodeCuts = decoder('Where a message was joined', Type.Union([cutsSchema, Type.Null()]))
/** The decoder of `messages.facts`. Null means that nothing is known. */
export const decodeFacts = decoder('What is known of a reply', Type.Union([factsSchema, Type.Null()]))

/** The decoder of the part of `facts` that the next reply needs. Null means that there is none. */
export const decodeSent = decoder('What a model was sent', Type.Union([sentSchema, Type.Null()]))

/** The decoder of `messages.shown_calls`. Null means that the reply shows no calls. */
export const decodeShownCalls = decoder('The calls that a reply shows', Type.Union([shownCallsSchema, Type.Null()]))
