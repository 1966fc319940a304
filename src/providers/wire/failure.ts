/** Failures of provider calls, and how they are reported (contract section 3). */
import type { ModelFailure } from '../../actors/ports/index.ts'
import { proxyErrorIn } from '../../untrusted/proxy-error.ts'
import { clearKeyLike, clearSecrets, cut } from '../../untrusted/redact.ts'
import { type Overflow, overflowIn } from '../context/overflow.ts'

/**
 * - `answered`: a status other than 2xx; or an error with a status, sent within a stream
 * - `reported`: an error sent within a stream, without a status that is known
 * - `connection`: refused, broken, no such host, certificate; `reason` says which
 * - `connect_timeout`, `silent`: no connection, no event for too long
 * - `ended_early`: the stream stopped before the model was done
 * - `malformed`: an answer that is no chat completion
 * - `unusable`: the provider as it is configured cannot be called at all
 */
export type ProblemKind =
  | 'answered'
  | 'reported'
  | 'connection'
  | 'connect_timeout'
  | 'silent'
  | 'ended_early'
  | 'malformed'
  | 'unusable'

interface ProblemFacts {
  kind: ProblemKind
  status?: number | null
  /** The reason in the provider's words, or in ours where it gave none. Not yet cleared of secrets. */
  reason?: string
  /** The whole error, for the log. Not yet cleared of secrets. */
  full?: string
  /** The wait that the provider requested, in milliseconds. */
  retryAfterMs?: number | null
  /** Whether another attempt is of use, where kind and status do not decide it. */
  retry?: boolean
  /** True when the key was refused, whatever the status says. */
  keyRefused?: boolean
}

/** A provider call that failed. Thrown within this folder only; outside of it there are `failed` events. */
export class ProviderProblem extends Error {
  readonly kind: ProblemKind
  readonly status: number | null
  readonly reason: string
  readonly full: string
  readonly retryAfterMs: number | null
  readonly keyRefused: boolean
  /** The overflow, when the input is too long for the model. Null when it is something else. */
  readonly overflow: Overflow | null
  readonly #retry: boolean | null

  constructor(facts: ProblemFacts) {
    super(facts.full ?? facts.reason ?? facts.kind)
    this.name = 'ProviderProblem'
    this.kind = facts.kind
    this.status = facts.status ?? null
    this.reason = facts.reason ?? ''
    this.full = facts.full ?? this.reason
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.keyRefused = facts.keyRefused ?? (this.status === 401 || this.status === 403)
    this.#retry = facts.retry ?? null
    const isSaid = this.kind === 'answered' || this.kind === 'reported'
    this.overflow = isSaid && !this.keyRefused ? overflowIn(this.status, this.full) : null
  }

  /**
   * True when another attempt may succeed: 408, 429, 5xx or a broken connection (contract section 1, PROVIDER_RETRIES).
   */
  get transient(): boolean {
    if (this.overflow !== null) return false
    if (this.#retry !== null) return this.#retry
    if (this.status !== null) return this.status === 408 || this.status === 429 || this.status >= 500
    return this.kind === 'connection' || this.kind === 'connect_timeout' || this.kind === 'ended_early'
  }
}

/** Returns the problem of an answer that is larger than what is taken. The reason is told in words. */
export const beyondLimit = (reason: string): ProviderProblem =>
  new ProviderProblem({ kind: 'malformed', reason, full: `No chat completion: ${reason}` })

export const malformed = (what: string): ProviderProblem =>
  new ProviderProblem({ kind: 'malformed', full: `No chat completion: ${what.slice(0, 2000)}` })

/** Finds the problem in an error or its causes. Null for a fault of our own. */
export function problemIn(error: unknown): ProviderProblem | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ProviderProblem) return at
  return null
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
}

/** Converts a rejection of fetch, before or within a response. */
export function connectionProblem(error: unknown): ProviderProblem {
  const known = problemIn(error)
  if (known) return known
  const codes: string[] = []
  const words: string[] = []
  for (let at: unknown = error; at instanceof Error && words.length < 5; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code)
    words.push(`${at.name}: ${at.message}`)
  }
  const said = words.join('; ')
  const full = [said, ...codes.filter((code) => !said.includes(code))].join('; ')
  const asked = proxyErrorIn(error)
  const through = asked === null ? '' : `the proxy ${asked.proxy} was asked`
  if (asked !== null && asked.reason !== null) {
    // A proxy that refuses would do so again; one that cannot reach the provider now may do so later.
    const retry = !/\b4\d\d\b/.test(asked.reason)
    return new ProviderProblem({ kind: 'connection', reason: `${through}, ${asked.reason}`, full, retry })
  }
  const withProxy = (reason: string) => [reason, through].filter((part) => part !== '').join('; ')
  if (codes.some((code) => code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')) {
    return new ProviderProblem({ kind: 'connect_timeout', reason: through, full })
  }
  // The outbound guard refused the call and would refuse it again.
  if (codes.some((code) => code.includes('OUTBOUND'))) {
    return new ProviderProblem({ kind: 'connection', reason: 'address not allowed', full, retry: false })
  }
  if (codes.some((code) => /CERT|SELF_SIGNED|ISSUER|ERR_TLS|ERR_SSL/.test(code))) {
    return new ProviderProblem({
      kind: 'connection',
      reason: withProxy('TLS certificate or handshake refused'),
      full,
      retry: false,
    })
  }
  const reason = codes.map((code) => reasons[code]).find((text) => text !== undefined)
  return new ProviderProblem({ kind: 'connection', reason: withProxy(reason ?? 'connection broken'), full })
}

/** Returns the failure to report. `secrets`: the secrets of this call, in plain text. */
export function failureOf(problem: ProviderProblem, secrets: readonly string[]): ModelFailure {
  const detail = cut(clearSecrets(problem.full || sentence(problem), secrets), 10_000)
  // First the secrets, then what looks like one, then the cut: a secret cut in half would no longer be found.
  const message = cut(clearKeyLike(clearSecrets(sentence(problem), secrets)), 500)
  return { code: codeOf(problem), message, detail }
}

function codeOf({ kind, status, keyRefused, overflow }: ProviderProblem): ModelFailure['code'] {
  if (overflow !== null) return 'context_length_exceeded'
  if (keyRefused) return 'provider_auth'
  if (status === 429) return 'provider_rate_limited'
  if (status === 408 || status === 504) return 'provider_timeout'
  return kind === 'silent' || kind === 'connect_timeout' ? 'provider_timeout' : 'provider_error'
}

/** Returns only kind and status of refused credentials and failed connections: the words could hold a key or a host. */
function sentence({ kind, status, reason, keyRefused }: ProviderProblem): string {
  if (keyRefused) return `The provider refused the credentials (${status}).`
  const words = reason === '' ? '.' : `: ${reason}`
  switch (kind) {
    case 'answered':
      return `The provider answered ${status}${words}`
    case 'reported':
      return `The provider reported an error${words}`
    case 'connection':
      return `The connection to the provider failed${words}`
    case 'connect_timeout':
      return `The connection to the provider took too long${words}`
    case 'silent':
      return `The provider was silent for too long${words}`
    case 'ended_early':
      return 'The provider ended early: its stream stopped before the reply was whole.'
    case 'malformed':
      return `The provider sent something that is no chat completion${words}`
    case 'unusable':
      return reason
  }
}
