/** Masks keys in what is logged: what providers and tools say may hold a key that they were sent (contract section 26). */
import { clearKeyLike, clearMarkedKeys } from './redact.ts'

export const maskedText = (text: unknown): unknown => (typeof text === 'string' ? clearKeyLike(text) : text)

const maskedName = (name: unknown): unknown => (typeof name === 'string' ? clearMarkedKeys(name) : name)

interface MaskedError {
  [field: string]: unknown
  type: string
  message: string
  stack: string
}

const MOST_CAUSES = 5

/**
 * Copies an error as pino writes it, with its causes. Anything that looks like a key is masked, and fields that may hold a
 * key are left out: the error of a Redis has the rejected command, with the password in it.
 */
export function maskedError(error: unknown): MaskedError {
  if (!(error instanceof Error)) return { type: typeof error, message: clearKeyLike(String(error)), stack: '' }
  const chain: Error[] = []
  for (let at: unknown = error; at instanceof Error && chain.length < MOST_CAUSES; at = at.cause) chain.push(at)
  const message = chain.map((one) => one.message).join(': ')
  const stack = chain.map((one) => one.stack ?? String(one)).join('\ncaused by: ')
  const fields = Object.entries(error).filter(([, value]) => Object(value) !== value)
  return {
    ...Object.fromEntries(fields.map(([name, value]) => [name, maskedText(value)])),
    type: error.constructor.name,
    message: clearKeyLike(message),
    stack: clearKeyLike(stack),
    ...(error instanceof AggregateError && { aggregateErrors: error.errors.map(maskedError) }),
  }
}

/** Fields of lines that may hold words of a provider or a tool, and how each is written. */
export const maskedFields = {
  err: maskedError,
  detail: maskedText,
  reason: maskedText,
  tool: maskedName,
  name: maskedName,
  question: maskedText,
}
