/** The texts of a request besides its message: stored and counted once a session, by its hash (contract section 32). */
import { hash } from 'node:crypto'
import type { ReplyFacts } from '../../../actors/ports/index.ts'
import { jsonText } from '../settling/stored-reply.ts'

/** A row of `session_texts`. */
interface KeptText {
  /** SHA-256, in hexadecimal. */
  hash: string
  bytes: number
  content: object | string
}

/** Returns the facts as they are stored, and the texts that they name. No texts: there is nothing besides. */
export function keepTexts({ brought = {}, ...facts }: ReplyFacts): { facts: object; texts: readonly KeptText[] } {
  const { tools, format, instructions, metadata = {}, ...response } = facts.response ?? {}
  const read = { tools, format, instructions, metadata: Object.keys(metadata).length > 0 ? metadata : undefined }
  const kept = [...namedTexts(read, textOf), ...namedTexts(brought, sizeOf)]
  if (kept.length === 0) return { facts, texts: [] }
  const names = Object.fromEntries(kept.map(({ name, text }) => [name, text.hash]))
  const stored = facts.response && { response: { ...response, metadata: {} } }
  return { facts: { ...facts, ...stored, kept: names }, texts: kept.map(({ text }) => text) }
}

const namedTexts = (contents: object, textFor: (content: object | string) => KeptText) =>
  Object.entries(contents).flatMap(([name, content]: [string, object | string | undefined]) =>
    content === undefined ? [] : [{ name, text: textFor(content) }],
  )

function textOf(content: object | string): KeptText {
  const json = jsonText({ content })
  return { hash: hash('sha256', json), bytes: Buffer.byteLength(json), content }
}

/** Returns a text that nobody reads again: its size counts, under a hash that no text to be read has. */
function sizeOf(content: object | string): KeptText {
  const json = jsonText({ sizeOf: content })
  return { hash: hash('sha256', json), bytes: Buffer.byteLength(json), content: '' }
}
