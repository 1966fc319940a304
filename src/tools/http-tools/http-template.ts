/** Templates of HTTP tools: how `{{argument}}` is filled in a URL, a header and a body (contract section 6). */

/** The tool cannot be called with these arguments. The message is for the model. */
export class TemplateError extends Error {
  override name = 'TemplateError'
}

export type Arguments = Readonly<Record<string, unknown>>

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

const hasPlaceholder = (text: string) => text.search(PLACEHOLDER) !== -1

/** The names of the arguments in a template. */
export const namesIn = (template: string): string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => (name ?? '').trim())

/** An argument's value, never an inherited property (`constructor`). Undefined when it was not given. */
const argumentOf = (args: Arguments, name: string): unknown => (Object.hasOwn(args, name) ? args[name] : undefined)

/** Fills in one pass: a placeholder inside a value is left as it is. */
const fill = (template: string, value: (name: string) => string) =>
  template.replace(PLACEHOLDER, (_, name: string) => value(name.trim()))

/** Strings as they are, everything else as JSON. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed() : (JSON.stringify(value) ?? '')

const encode = (value: unknown) =>
  encodeURIComponent(asText(value)).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

// ── URL ─────────────────────────────────────────────────────────────────────────────────────────────────

/** `scheme://host` (with port), path, and query with fragment. The URL parser drops tabs and line ends, so do we. */
function parts(template: string): { authority: string; path: string; query: string } | null {
  const found = /^(https?:\/\/[^/?#\\]+)([^?#]*)(.*)$/i.exec(template.trim().replace(/[\t\n\r]/g, ''))
  return found && { authority: found[1] ?? '', path: found[2] ?? '', query: found[3] ?? '' }
}

/** Why a URL template cannot be used, whatever the arguments. Null when it can. */
export function urlTemplateProblem(template: string): string | null {
  const found = parts(template)
  if (!found) return 'must be an http or https URL'
  if (/[{}]/.test(found.authority)) return 'may hold no placeholder in scheme, host or port'
  if (!URL.canParse(found.authority)) return 'must be an http or https URL'
  return null
}

/** Throws TemplateError. `extra` is added to the query. */
export function fillUrl(template: string, args: Arguments, extra: Arguments): URL {
  const problem = urlTemplateProblem(template)
  const found = parts(template)
  if (problem !== null || !found) throw new TemplateError(`This tool's URL ${problem}.`)
  const path = found.path
    .split(/([/\\])/)
    .map((segment) => fillSegment(segment, args))
    .join('')
  const query = fill(found.query, (name) => {
    const value = argumentOf(args, name)
    return value === undefined ? '' : encode(value)
  })
  const url = URL.parse(found.authority + path + query)
  // The rules above exclude this. It is checked because it is the property that must hold.
  if (!url || url.origin !== new URL(found.authority).origin) {
    throw new TemplateError('The arguments do not fit into this URL.')
  }
  const added = Object.entries(extra).flatMap(([name, value]) => queryPairs(name, value))
  if (added.length > 0) url.search = [url.search.slice(1), ...added].filter((one) => one !== '').join('&')
  url.hash = ''
  return url
}

function fillSegment(segment: string, args: Arguments): string {
  if (!hasPlaceholder(segment)) return segment
  const filled = fill(segment, (name) => {
    const value = argumentOf(args, name)
    if (value === undefined) throw new TemplateError(`The argument ${JSON.stringify(name)} is missing.`)
    return encode(value)
  })
  // `DELETE /users/{{id}}` must not become `DELETE /users/`.
  if (filled === '') throw new TemplateError(`${segment} in the URL's path may not be empty.`)
  // Some servers decode %2F before they resolve dots, so `..%2F` climbs there like `../../`.
  if (
    decode(filled)
      .split(/[/\\]/)
      .some((part) => part === '.' || part === '..')
  ) {
    throw new TemplateError(`${segment} in the URL's path may not become "." or "..".`)
  }
  return filled
}

/** The template's own text may hold a bare percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
  }
}

/** A list becomes one pair for each item. */
function queryPairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return value.map((item) => `${encode(name)}=${encode(item)}`)
  }
  return [`${encode(name)}=${encode(value)}`]
}

// ── headers ─────────────────────────────────────────────────────────────────────────────────────────────

/** A model may not decide where the message ends or which host it is for. */
const FIXED_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

/** Throws TemplateError. Non-ASCII characters are sent as UTF-8. */
export function fillHeaders(templates: Readonly<Record<string, string>>, args: Arguments): Record<string, string> {
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => {
      if (FIXED_HEADERS.has(name.toLowerCase()) && hasPlaceholder(template)) {
        throw new TemplateError(`The header ${name} may hold no placeholder.`)
      }
      const value = fill(template, (argument) => {
        const text = asText(argumentOf(args, argument) ?? '')
        if (/\p{Cc}/u.test(text)) {
          throw new TemplateError(`The argument ${JSON.stringify(argument)} may hold no control characters.`)
        }
        return text
      })
      return [name, Buffer.from(value).toString('latin1')]
    }),
  )
}

// ── body ────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether it is JSON once its placeholders are filled. */
export function isJsonTemplate(template: string): boolean {
  try {
    JSON.parse(fill(template, () => '0'))
    return true
  } catch {
    return false
  }
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)

/**
 * JSON-escaped. In a JSON template a placeholder inside a string becomes part of that string; one outside becomes a
 * whole JSON value. No argument changes the body's structure.
 */
export function fillBody(template: string, args: Arguments): string {
  const given = (name: string) => argumentOf(args, name)
  if (!isJsonTemplate(template)) return fill(template, (name) => escaped(asText(given(name) ?? '')))
  // A whole string, or a placeholder outside of strings.
  return template.replace(/"(?:[^"\\]|\\.)*"|\{\{([^{}]*)\}\}/g, (found, name: string | undefined) => {
    if (name === undefined) return fill(found, (inner) => escaped(asText(given(inner) ?? '')))
    return JSON.stringify(given(name.trim()) ?? null)
  })
}
