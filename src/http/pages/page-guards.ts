/** Headers of everything that a browser shows. */

/** Scripts and styles come from this server alone; no page may frame these. */
export const strictPolicy =
  "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"

/** The same for the page of shares, which has no form either. */
export const sharedPolicy =
  "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'none'; frame-ancestors 'none'"

export const pageGuards = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
} as const
