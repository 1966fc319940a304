/**
 * Templates of HTTP tools: `{{argument}}` and values of the session in a URL, a header and a body (contract sections 6
 * and 20).
 */
import {
  fillPlaceholders,
  type Placeholder,
  placeholdersIn,
  type ReplyValues,
  replyValue,
  valuesWithoutSession,
} from '../../templates/placeholders.ts'

/** The error of arguments that the tool cannot be called with. The message is for the model. */
export class TemplateError extends Error {
  override name = 'TemplateError'
}

export type Arguments = Readonly<Record<string, unknown>>

/** The values of one call. */
interface Filling {
  args: Arguments
  values: ReplyValues
}

const hasPlaceholder = (text: string) => placeholdersIn(text).length > 0

/**
 * Returns the names of the arguments in a template. A placeholder for a value of the session is no argument, whatever
 * its name.
 */
export const namesIn = (template: string): string[] =>
  placeholdersIn(template).flatMap(({ placeholder }) => (placeholder.kind === 'value' ? [] : [placeholder.name]))

/**
 * Returns the value of a placeholder, never an inherited property (`constructor`). Undefined for an argument that was
 * not given. Throws TemplateError for a missing value: a tool is not called without its user.
 */
function standsFor(placeholder: Placeholder, { args, values }: Filling): unknown {
  const { kind, name } = placeholder
  if (kind !== 'value') return Object.hasOwn(args, name) ? args[name] : undefined
  const value = replyValue(values, name) ?? placeholder.fallback
  if (value === null)
    throw new TemplateError(`Not called: the value ${name} is missing, and the tool has no default for it.`)
  return value
}

/** Fills a template in one pass: a placeholder inside a value is left as it is. */
const fill = (template: string, filling: Filling, write: (value: unknown, placeholder: Placeholder) => string) =>
  fillPlaceholders(template, (placeholder) => write(standsFor(placeholder, filling), placeholder))

/** Converts a value to text: strings unchanged, everything else as JSON. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed() : (JSON.stringify(value) ?? '')

const encode = (value: unknown) =>
  encodeURIComponent(asText(value)).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

// ── URL ─────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Splits a URL into `scheme://host` (with port), path, and query with fragment. The URL parser drops tabs and line
 * ends, so do we.
 */
function parts(template: string): { authority: string; path: string; query: string } | null {
  const found = /^(https?:\/\/[^/?#\\]+)([^?#]*)(.*)$/i.exec(template.trim().replace(/[\t\n\r]/g, ''))
  return found && { authority: found[1] ?? '', path: found[2] ?? '', query: found[3] ?? '' }
}

/** Returns why a URL template cannot be used, whatever the arguments. Null when it can. */
export function urlTemplateProblem(template: string): string | null {
  const found = parts(template)
  if (!found) return 'must be an http or https URL'
  if (/[{}]/.test(found.authority)) return 'may hold no placeholder in scheme, host or port'
  if (!URL.canParse(found.authority)) return 'must be an http or https URL'
  return null
}

/**
 * Replaces placeholders by numbers while the address is divided, so that characters of a default are not taken for its
 * parts.
 */
function numbered(template: string): { text: string; placeholders: Placeholder[] } {
  const placeholders: Placeholder[] = []
  const text = fillPlaceholders(template, (placeholder) => `{{${placeholders.push(placeholder) - 1}}}`)
  return { text, placeholders }
}

/** Fills a URL. Throws TemplateError. `extra` is added to the query. */
export function fillUrl(template: string, args: Arguments, extra: Arguments, values = valuesWithoutSession()): URL {
  const problem = urlTemplateProblem(template)
  const { text, placeholders } = numbered(template)
  const found = parts(text)
  if (problem !== null || !found) throw new TemplateError(`This tool's URL ${problem}.`)
  const written = (part: string, write: (value: unknown, placeholder: Placeholder) => string) =>
    fillPlaceholders(part, ({ name }) => {
      const placeholder = placeholders[Number(name)]
      if (placeholder === undefined) throw new TemplateError("This tool's URL cannot be read.")
      return write(standsFor(placeholder, { args, values }), placeholder)
    })
  const path = found.path
    .split(/([/\\])/)
    .map((segment) => checkedSegment(segment, written(segment, encodePart)))
    .join('')
  const query = written(found.query, (value) => (value === undefined ? '' : encode(value)))
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

function encodePart(value: unknown, { name }: Placeholder): string {
  if (value === undefined) throw new TemplateError(`The argument ${JSON.stringify(name)} is missing.`)
  return encode(value)
}

function checkedSegment(segment: string, filled: string): string {
  if (!hasPlaceholder(segment)) return segment
  // `DELETE /users/{{id}}` must not become `DELETE /users/`.
  if (filled === '') throw new TemplateError("A part of this tool's URL may not be empty.")
  // Some servers decode %2F before they resolve dots, so `..%2F` climbs there like `../../`.
  if (
    decode(filled)
      .split(/[/\\]/)
      .some((part) => part === '.' || part === '..')
  ) {
    throw new TemplateError('A part of this tool\'s URL may not become "." or "..".')
  }
  return filled
}

/** Decodes a text. The template's own may hold a bare percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
  }
}

/** Returns the pairs of a query. A list becomes one pair for each item. */
function queryPairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || JSON.isRawJSON(item))) {
    return value.map((item) => `${encode(name)}=${encode(item)}`)
  }
  return [`${encode(name)}=${encode(value)}`]
}

// ── headers ─────────────────────────────────────────────────────────────────────────────────────────────

/** The headers that a template may not set: a model may not decide where the message ends or which host it is for. */
const FIXED_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

/** Fills the headers. Throws TemplateError. Non-ASCII characters are sent as UTF-8. */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  args: Arguments,
  values = valuesWithoutSession(),
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(templates).map(([name, template]) => {
      if (FIXED_HEADERS.has(name.toLowerCase()) && hasPlaceholder(template)) {
        throw new TemplateError(`The header ${name} may hold no placeholder.`)
      }
      const value = fill(template, { args, values }, (given, placeholder) => {
        const text = asText(given ?? '')
        if (/\p{Cc}/u.test(text)) {
          const kind = placeholder.kind === 'value' ? 'value' : 'argument'
          throw new TemplateError(`The ${kind} ${JSON.stringify(placeholder.name)} may hold no control characters.`)
        }
        return text
      })
      return [name, Buffer.from(value).toString('latin1')]
    }),
  )
}

// ── body ────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns whether a template is JSON once its placeholders are filled. */
export function isJsonTemplate(template: string): boolean {
  try {
    JSON.parse(fillPlaceholders(template, () => '0'))
    return true
  } catch {
    return false
  }
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)

/**
 * Fills a body, with JSON escapes. In a JSON template a placeholder inside a string becomes part of that string; one
 * outside becomes a whole JSON value. Neither arguments nor values change the body's structure.
 */
export function fillBody(template: string, args: Arguments, values = valuesWithoutSession()): string {
  const inText = (text: string) => fill(text, { args, values }, (value) => escaped(asText(value ?? '')))
  if (!isJsonTemplate(template)) return inText(template)
  // A whole string, whose defaults may hold quotation marks, or a placeholder outside of strings.
  return template.replace(/"(?:\{\{[^{}]*\}\}|[^"\\]|\\.)*"|\{\{[^{}]*\}\}/g, (found) =>
    found.startsWith('"') ? inText(found) : fill(found, { args, values }, (value) => JSON.stringify(value ?? null)),
  )
}
