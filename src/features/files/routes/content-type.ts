/** The media type of a file, told by its bytes as they arrive (contract section 32). */
import { BEGINNING_BYTES, mayBeDocument, pictureOrPdfType } from '../../parts/index.ts'

export interface TypeReader {
  write(chunk: Uint8Array): void
  /** Returns whether the file begins as documents do: what converts it tells its type. */
  mayBeDocument(): boolean
  /** Returns null for a file of a type that is not taken. */
  end(filename: string): Promise<string | null>
}

/** Reads the type of a file. It holds the file's beginning alone. */
export function createTypeReader(): TypeReader {
  const beginning = Buffer.alloc(BEGINNING_BYTES)
  let length = 0
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isText = true
  const decode = (chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isText = false
    }
  }
  return {
    write(chunk) {
      const taken = chunk.subarray(0, BEGINNING_BYTES - length)
      beginning.set(taken, length)
      length += taken.length
      if (isText && chunk.includes(0)) isText = false
      if (isText) decode(chunk)
    },
    mayBeDocument: () => mayBeDocument(beginning.subarray(0, length)),
    async end(filename) {
      const told = await pictureOrPdfType(beginning.subarray(0, length))
      if (told !== null) return told
      if (isText) decode()
      return isText ? textTypeOf(filename) : null
    },
  }
}

function textTypeOf(filename: string): string {
  const [, ending = ''] = /\.([a-z]+)$/i.exec(filename) ?? []
  return { csv: 'text/csv', md: 'text/markdown' }[ending.toLowerCase()] ?? 'text/plain'
}
