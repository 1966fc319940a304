/** Lists that are written in pieces, as fast as they are read (contract section 26). */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ownTurns } from '../../async/own-turn.ts'

/** The most that is written at once. */
const PIECE_BYTES = 2 ** 20

/** A body: its fields' values, or what an array among them holds, one after the other. */
type Fields = Readonly<Record<string, unknown>>

/** Sends a body of JSON whose arrays are read as far as the client takes them. */
export function sendInPieces(reply: FastifyReply, fields: Fields): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(readable(bodyTexts(fields)))
}

/** Returns the same bytes in pieces, which gathers nothing ahead of its reader. */
export const readable = (texts: AsyncIterable<string>): Readable =>
  Readable.from(pieces(texts), { objectMode: false, highWaterMark: 1 })

/** Yields the JSON of an object, in texts. Elements of arrays and of async iterables are made one by one. */
export async function* bodyTexts(fields: Fields): AsyncGenerator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    if (isList(value)) yield* listTexts(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

type List = readonly unknown[] | AsyncIterable<unknown>

const isList = (value: unknown): value is List =>
  Array.isArray(value) || (value instanceof Object && Symbol.asyncIterator in value)

/** An element that takes some milliseconds is made in a turn of its own, whoever else writes a list. */
const LONG = 64 * 1024

async function* listTexts(values: List): AsyncGenerator<string> {
  let before = '['
  let length = 0
  for await (const value of values) {
    if (length >= LONG) await ownTurn()
    const text = JSON.stringify(value)
    length = text.length
    yield `${before}${text}`
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** Six lists at once would make one long turn. */
const ownTurn = ownTurns()

/** Yields pieces. Other work has its turn before each piece. */
async function* pieces(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = []
  let length = 0
  for await (const text of texts) {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + PIECE_BYTES - length)
      gathered.push(taken)
      at += taken.length
      length += taken.length
      if (length < PIECE_BYTES) continue
      await ownTurn()
      yield Buffer.concat(gathered, length)
      gathered = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(gathered, length)
}
