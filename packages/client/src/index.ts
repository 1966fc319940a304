/** @greenroom/client: sessions whose replies survive every broken connection, and the management API, typed. */
export type { Calls } from './calls.ts'
export {
  type Agent,
  type Client,
  type ClientOptions,
  createClient,
  type DeployAgent,
  type EventsOptions,
  type PlaygroundAgent,
  type SessionQuery,
} from './client.ts'
export { ApiError, ConnectionError, ReplyError, type ReplyErrorCode } from './errors.ts'
export type { Reconnect } from './follow.ts'
export { type ContentPart, filePart, type MessageContent } from './message-content.ts'
export type { NewPlaygroundSession, PlaygroundMessage, PlaygroundSendOptions, PlaygroundSession } from './playground.ts'
export type { OnBusy, QueuedMessage } from './queue.ts'
export type { FollowReplyOptions, Reply } from './reply.ts'
export type { FinishReason, ReplyEvent, Usage } from './reply-frames.ts'
export type { components, paths } from './schema.ts'
export { type ServerEvent, serverEvents } from './server-events.ts'
export type {
  DecideOptions,
  Decision,
  DeploySession,
  ForkPlace,
  Message,
  MessagePage,
  NewSession,
  PendingCall,
  SendOptions,
  Session,
  SessionRecord,
} from './session.ts'
export type { TokenSource } from './tokens.ts'
export type { SessionChange, SessionList, WatchOptions } from './watch-sessions.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhooks.ts'
