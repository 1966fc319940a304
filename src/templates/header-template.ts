/** Values of the session in the headers of MCP servers (contract section 27). Pure. */
import {
  distinctIn,
  fillPlaceholders,
  METADATA,
  metadataIn,
  placeholdersIn,
  type ReplyValues,
  replyValue,
} from './placeholders.ts'

type Headers = Readonly<Record<string, string>>

/** Returns whether a name stands for a value that headers take. The time is none: each request would be another one. */
const isTaken = (name: string): boolean => name === 'session.id' || name === 'session.user' || name.startsWith(METADATA)

const takenNames = `session.id, session.user and ${METADATA}NAME (letters, digits, _ and -)`

/** Names the field that may not be saved, and the reason. Null when all may. */
export function serverTemplateProblem({ url, headers }: { url: string; headers: Headers }): string | null {
  if (placeholdersIn(url).length > 0) return 'url: may hold no "{{…}}"'
  for (const [header, template] of Object.entries(headers)) {
    const field = `headers.${header.slice(0, 100)}`
    for (const { kind, name } of distinctIn(template)) {
      if (kind !== 'value' || !isTaken(name))
        return `${field}: ${JSON.stringify(name)} is no value: there are ${takenNames}`
    }
    const rest = fillPlaceholders(template, () => '')
    if (rest.includes('{{')) return `${field}: holds "{{" that is not closed by "}}", or a default with a brace`
  }
  return null
}

/** Returns the names of the session's metadata that requests to the server send. */
export const metadataOfHeaders = (headers: Headers): string[] => Object.values(headers).flatMap(metadataIn)

export type FilledHeaders =
  | { headers: Record<string, string>; isFilled: boolean }
  /** The value that is missing, or cannot be sent, and the header that needs it. */
  | { missing: string; header: string }

/** Fills in the values of a session. Other words in double braces, of records made before they were refused, stay. */
export function fillServerHeaders(templates: Headers, values: ReplyValues): FilledHeaders {
  const headers: Record<string, string> = {}
  let isFilled = false
  for (const [header, template] of Object.entries(templates)) {
    let missing: string | null = null
    let here = false
    const text = fillPlaceholders(template, (placeholder, asWritten) => {
      if (placeholder.kind !== 'value' || !isTaken(placeholder.name)) return asWritten
      here = true
      const value = (replyValue(values, placeholder.name) ?? placeholder.fallback)?.toWellFormed() ?? null
      if (value === null || /\p{Cc}/u.test(value)) missing ??= placeholder.name
      return value ?? ''
    })
    if (missing !== null) return { missing, header }
    headers[header] = here ? Buffer.from(text).toString('latin1') : template
    isFilled ||= here
  }
  return { headers, isFilled }
}
