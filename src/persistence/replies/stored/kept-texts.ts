/** The texts of a request besides its message: stored and counted once a session, by its hash (contract section 32). */
import { hash } from 'node:crypto'
import type { ReplyFacts, ResponseRequest } from '../../../actors/ports/index.ts'
import { jsonText } from '../settling/stored-reply.ts'

/** A row of `session_texts`. */
interface KeptText {
  /** SHA-256, in hexadecimal. */
  hash: string
  bytes: number
  content: object | string
}

/** Returns the facts as they are stored, and the texts that they name. No texts: there is nothing besides. */
export function keepTexts(facts: ReplyFacts): { facts: object; texts: readonly KeptText[] } {
  if (facts.response === undefined) return { facts, texts: [] }
  const { tools, format, instructions, metadata, ...response } = facts.response
  const besides = { tools, format, instructions, metadata: Object.keys(metadata).length > 0 ? metadata : undefined }
  const kept = Object.entries(besides).flatMap(([name, content]) =>
    content === undefined ? [] : [{ name, text: textOf(content) }],
  )
  if (kept.length === 0) return { facts, texts: [] }
  const stored: ResponseRequest = { ...response, metadata: {} }
  const names = Object.fromEntries(kept.map(({ name, text }) => [name, text.hash]))
  return { facts: { ...facts, response: stored, kept: names }, texts: kept.map(({ text }) => text) }
}

function textOf(content: object | string): KeptText {
  const json = jsonText({ content })
  return { hash: hash('sha256', json), bytes: Buffer.byteLength(json), content }
}
