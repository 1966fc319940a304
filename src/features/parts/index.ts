/** The door of parts: all that the wires, the rest of http and other features use of it. */
export { convertDocument } from './documents/convert.ts'
export { mayBeDocument } from './documents/document-types.ts'
export { BEGINNING_BYTES, pictureOrPdfType } from './routes/check-bytes.ts'
export { cleanName } from './routes/clean-name.ts'
export { ownParts } from './routes/own-parts.ts'
export { answerPart, partPath, placeOfPath, sendContent } from './routes/part-answer.ts'
export {
  bringsAddresses,
  loadMessages,
  type PartDependencies,
  type PreparedParts,
  partsIn,
  prepareParts,
} from './routes/prepare.ts'
export {
  type AnswerMessage,
  bytesAt,
  type ChatMessage,
  gather,
  isPictureType,
  mediaTypesOf,
  partsOf,
  readContent,
  readFileId,
  readName,
  readSource,
  type SentConversation,
  type SentMessage,
  type SentPart,
} from './routes/sent-message.ts'
export { shownUrls } from './routes/shown-url.ts'
export { type FindStored, findAllStored } from './routes/stored-parts.ts'
export { unloadedMessages } from './routes/unloaded.ts'
export { openUploads, requireUploads, takesParts, type Uploads } from './routes/uploads.ts'
export { addText, admittedParts, copyPiece, findPart, PIECE_BYTES, releaseContents } from './store/parts.ts'
