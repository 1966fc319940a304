/** The door of documents: Word and Excel documents as text for models (contract section 32). */
export { type Converted, convertDocument } from './convert.ts'
export { documentTypes, isDocument, mayBeDocument } from './document-types.ts'
