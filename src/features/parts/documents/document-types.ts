/** The documents that are read as text, by their media types. */

const family = 'application/vnd.openxmlformats-officedocument'
export const WORD = `${family}.wordprocessingml.document`
export const EXCEL = `${family}.spreadsheetml.sheet`

export const documentTypes: readonly string[] = [WORD, EXCEL]

export const isDocument = (mediaType: string): boolean => documentTypes.includes(mediaType)

/** The first bytes of an archive, and of the container that documents are encrypted in. */
export const ARCHIVE = Buffer.from('PK')
export const CONTAINER = Buffer.from('d0cf11e0a1b11ae1', 'hex')

/** Returns whether a file that begins so may be a document, as far as its first bytes tell. */
export const mayBeDocument = (beginning: Uint8Array): boolean =>
  [ARCHIVE, CONTAINER].some((mark) => mark.equals(beginning.subarray(0, mark.length)))
