/** Pages of one sentence for browsers that come from elsewhere, such as an identity provider. They run no script. */
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 20vh auto 0; max-width: 34rem; padding: 0 1.5rem }
h1 { font-size: 1.25rem }`

const policyOf = (formAction: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `base-uri 'none'; ${formAction}frame-ancestors 'none'`,
  ].join('; ')

/** Headers of these pages: nothing of their address goes on, and nobody keeps or frames them. */
export const plainPageHeaders = {
  'content-security-policy': policyOf("form-action 'self'; "),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** Headers of a page whose form leads to another origin: a browser would hold the answer's redirect to `form-action`. */
const leavingPageHeaders = { ...plainPageHeaders, 'content-security-policy': policyOf('') } as const

/** Without a referrer a form sends no `Origin` that can be checked, so such a page replaces the header's policy. */
const leavingReferrer = '<meta name="referrer" content="same-origin">'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => entities[one] ?? one)

/** Sends a page. `body`: HTML behind the title; texts in it are escaped by the caller. */
export function sendPlainPage(
  reply: FastifyReply,
  { status, title, body, leaves = false }: { status: number; title: string; body: string; leaves?: boolean },
): FastifyReply {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>${leaves ? leavingReferrer : ''}`
  return reply
    .code(status)
    .headers(leaves ? leavingPageHeaders : plainPageHeaders)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`,
    )
}
