/** The end of a reply in words: what failed, or how it came to its end. Pure. */
import type { components } from '../../../../openapi/generated/schema.ts'

type FinishReason = components['schemas']['PlaygroundMessage']['finishReason']

/** Returns what failed, in a few words. A reply may be given up while its provider still writes. */
export const headlineOf = ({ code, message }: { code: string; message: string }): string =>
  (code === 'provider_timeout' && message.startsWith('The reply') ? 'The reply took too long' : headlines[code]) ??
  'The reply failed'

const headlines: Readonly<Record<string, string>> = {
  internal: 'The server was overloaded and gave the reply up',
  provider_auth: 'The provider refused the API key',
  provider_rate_limited: 'The provider’s rate limit was reached',
  provider_timeout: 'The provider fell silent',
  provider_error: 'The provider answered with an error',
  context_length_exceeded: 'The conversation is too long for the model',
  instance_lost: 'The server process was lost while it wrote',
  shutdown: 'The server was shut down while it wrote',
}

/** Sentences for the finish reasons of replies. */
export const endings = {
  stop: 'The model came to its end.',
  length: 'Cut off at the length limit.',
  content_filter: 'Stopped by the provider’s content filter.',
  cancelled: 'Stopped by somebody; it keeps what it had.',
  tool_calls: 'The model called tools that wait for an answer.',
  steered: 'Ended early for the next message.',
  error: 'It failed.',
} satisfies Record<NonNullable<FinishReason>, string>
