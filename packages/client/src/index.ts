/** @greenroom/client: sessions whose replies survive every broken connection, and the management API, typed. */
export type { Calls } from './calls.ts'
export {
  type Agent,
  type Client,
  type ClientOptions,
  type Connection,
  createClient,
  type DeployAgent,
  type EventsOptions,
  type PlaygroundAgent,
  type SearchQuery,
  type SearchResults,
  type SessionQuery,
} from './client.ts'
export { ApiError, ConnectionError, ReplyError, type ReplyErrorCode } from './errors.ts'
export { type ContentPart, filePart, type MessageContent } from './message-content.ts'
export { type ChatTransport, type ChatTransportOptions, chatTransport } from './pages/chat-transport.ts'
export type { components, paths } from './schema.ts'
export type {
  NewPlaygroundSession,
  PlaygroundMessage,
  PlaygroundSendOptions,
  PlaygroundSession,
} from './session/playground.ts'
export type { OnBusy, QueuedMessage } from './session/queue.ts'
export type { FollowReplyOptions, Reply } from './session/reply.ts'
export type { ChildPlace, FinishReason, ReplyEvent, Usage } from './session/reply-frames.ts'
export type {
  DecideOptions,
  Decision,
  DeploySession,
  ForkPlace,
  Message,
  MessagePage,
  NewSession,
  PendingCall,
  RememberedDecision,
  SendOptions,
  Session,
  SessionRecord,
} from './session/session.ts'
export type { CreatedShare, Share } from './session/sharing.ts'
export type { SessionChange, SessionList, WatchOptions } from './session/watch-sessions.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhooks.ts'
export type { Reconnect } from './wire/follow.ts'
export { type ServerEvent, serverEvents } from './wire/server-events.ts'
export type { TokenSource } from './wire/tokens.ts'
export { authorizedFetch } from './wire/transport.ts'
