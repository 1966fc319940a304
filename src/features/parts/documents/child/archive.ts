/** Reads the XML parts of a document, which is an archive, each in pieces. Nothing else of it is unpacked. */
import sax from 'sax'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'

export type DocumentFault = 'broken' | 'encrypted' | 'unpacked' | 'memory' | 'other'

export class Unreadable extends Error {
  readonly fault: DocumentFault
  constructor(fault: DocumentFault) {
    super(fault)
    this.fault = fault
  }
}

/** The handlers of a part's elements. Their names, and those of attributes, come without prefixes. */
export interface XmlReader {
  open(name: string, attributes: ReadonlyMap<string, string>): void
  close?(name: string): void
  text?(text: string): void
}

export interface Archive {
  has(name: string): boolean
  /** Reads a part, until `isEnough`. Throws Unreadable. */
  read(name: string, reader: XmlReader, isEnough?: () => boolean): Promise<void>
}

const MOST_ENTRIES = 20_000
const MOST_UNPACKED = 200 * 2 ** 20
const MOST_RESIDENT = 256 * 2 ** 20
const MOST_LEVELS = 256

/** Opens a document. Throws Unreadable. */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const zip = await fromBufferPromise(bytes).catch(broken)
  const entries = await entriesOf(zip).catch(broken)
  let unpacked = 0
  return {
    has: (name) => entries.has(keyOf(name)),
    async read(name, reader, isEnough = () => false) {
      const entry = entries.get(keyOf(name)) ?? broken()
      if (entry.isEncrypted()) throw new Unreadable('encrypted')
      unpacked += entry.uncompressedSize // what unpacks to another size is refused by yauzl
      if (unpacked > MOST_UNPACKED) throw new Unreadable('unpacked')
      const parser = createParser(reader)
      try {
        const stream = await zip.openReadStreamPromise(entry)
        for await (const chunk of stream) {
          if (process.memoryUsage.rss() > MOST_RESIDENT) throw new Unreadable('memory')
          parser.write(chunk)
          if (isEnough()) return
        }
        parser.end()
      } catch (error) {
        broken(error)
      }
    },
  }
}

const keyOf = (name: string): string => name.replace(/^\//, '').toLowerCase()

/** Throws what is known to be wrong, else that the document is broken. */
function broken(error?: unknown): never {
  throw error instanceof Unreadable ? error : new Unreadable('broken')
}

async function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    const key = keyOf(entry.fileName)
    // A name that is there twice is read as one thing here, and as another elsewhere.
    if (entries.has(key) || entries.size >= MOST_ENTRIES) broken()
    entries.set(key, entry)
  }
  return entries
}

/** Makes a strict parser, which takes no document types, thus no entities that these define. */
function createParser({ open, close, text }: XmlReader) {
  const parser = sax.parser(true)
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let levels = 0
  let hasRoot = false
  parser.onerror = broken
  parser.ondoctype = () => broken()
  parser.onopentag = ({ name, attributes }) => {
    hasRoot = true
    if (++levels > MOST_LEVELS) broken()
    const pairs = Object.entries(attributes).map(([key, value]) => [localName(key), String(value)] as const)
    open(localName(name), new Map(pairs))
  }
  parser.onclosetag = (name) => {
    levels--
    close?.(localName(name))
  }
  if (text) parser.ontext = parser.oncdata = text
  return {
    write(chunk: Uint8Array): void {
      decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8', { fatal: true })
      parser.write(decoder.decode(chunk, { stream: true }))
    },
    end(): void {
      if (decoder) parser.write(decoder.decode())
      parser.close()
      if (!hasRoot) broken()
    },
  }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
