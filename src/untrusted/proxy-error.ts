/**
 * The failure of a call that a proxy was asked for (contract section 35). `proxy`: its host and port, without user and
 * password. `reason`: the proxy's own refusal, in words; null where the failure below says what happened.
 */
export class ProxyError extends Error {
  override name = 'ProxyError'
  readonly proxy: string
  readonly reason: string | null

  constructor(proxy: string, reason: string | null, cause: unknown) {
    super(`The proxy ${proxy} was asked${reason === null ? '' : `: ${reason}`}.`, { cause })
    this.proxy = proxy
    this.reason = reason
  }
}

/** Finds the proxy's part in an error or its causes. Null when none was asked. */
export function proxyErrorIn(error: unknown): ProxyError | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof ProxyError) return at
  }
  return null
}
