/**
 * Converts one document to text: a program of its own that convert.ts runs. Reads the document's size (4 bytes) and its
 * bytes from standard input, writes a DocumentAnswer as a line of JSON, and then the text.
 */
import { ARCHIVE, CONTAINER, EXCEL, WORD } from '../document-types.ts'
import { type Archive, type DocumentFault, openArchive, Unreadable } from './archive.ts'
import { readExcel } from './excel.ts'
import { createText, cutText } from './text-writer.ts'
import { readWord } from './word.ts'

/** The first line that the program writes: the text follows, or there is none. */
export type DocumentAnswer = { mediaType: string } | { fault: DocumentFault }

/** The time after which the program exits by itself, in case its parent has gone. */
const SELF_MS = 30_000

const readers: Readonly<Record<string, typeof readWord>> = { [WORD]: readWord, [EXCEL]: readExcel }

/** The name of the stream in a container that holds an encrypted document. */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le')

async function input(): Promise<Buffer> {
  let bytes: Buffer | null = null
  let filled = 0
  for await (const chunk of process.stdin) {
    bytes ??= Buffer.allocUnsafeSlow(4 + chunk.readUInt32BE(0))
    bytes.set(chunk, filled)
    filled += chunk.length
  }
  if (bytes === null || filled !== bytes.length) throw new Error('The document did not come whole.')
  return bytes.subarray(4)
}

/** Returns the part that makes the archive a document, and the document's type. */
async function mainPartOf(archive: Archive): Promise<{ part: string; mediaType: string }> {
  const types = '[Content_Types].xml'
  if (!archive.has(types)) throw new Unreadable('other')
  let found: { part: string; mediaType: string } | null = null
  await archive.read(types, {
    open(name, attributes) {
      const [type, part] = [attributes.get('ContentType'), attributes.get('PartName')]
      const mediaType = Object.keys(readers).find((known) => type === `${known}.main+xml`)
      if (name === 'Override' && part !== undefined && mediaType !== undefined) found ??= { part, mediaType }
    },
  })
  return found ?? unknown()
}

function unknown(): never {
  throw new Unreadable('other')
}

async function convert(bytes: Buffer): Promise<{ answer: DocumentAnswer; text: string }> {
  try {
    if (CONTAINER.equals(bytes.subarray(0, CONTAINER.length))) {
      throw new Unreadable(bytes.includes(ENCRYPTED) ? 'encrypted' : 'other')
    }
    if (!ARCHIVE.equals(bytes.subarray(0, ARCHIVE.length))) unknown()
    const archive = await openArchive(bytes)
    const { part, mediaType } = await mainPartOf(archive)
    const text = createText()
    await readers[mediaType]?.(archive, part, text)
    return { answer: { mediaType }, text: cutText(text) }
  } catch (error) {
    if (error instanceof Unreadable) return { answer: { fault: error.fault }, text: '' }
    throw error
  }
}

setTimeout(() => process.exit(1), SELF_MS)
const { answer, text } = await convert(await input())
process.stdout.write(`${JSON.stringify(answer)}\n${text}`, () => process.exit(0))
