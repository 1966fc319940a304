/** Pictures and files that go with the next message. */
import { useEffect, useRef, useState } from 'react'
import { type ContentPart, filePart } from '../../api.ts'
import type { ChatRequest } from '../connection/connection-machine.ts'
import type { ShownPart } from '../connection/live-reply.ts'

export interface Attachment {
  id: string
  name: string
  /** Bytes. */
  size: number
  mediaType: string
  /** The address of a picture on this page. */
  preview: string | null
  /** A file of this computer's, or the path of an earlier message's part. */
  source: File | string
}

const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** Systems name these differently, or not at all. */
const byEnding = new Map([
  ['pdf', 'application/pdf'],
  ['md', 'text/markdown'],
  ['markdown', 'text/markdown'],
  ['csv', 'text/csv'],
  ['txt', 'text/plain'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
])

/** The types that the file picker offers. */
export const accepted = [...pictures, '.pdf', '.docx', '.xlsx', '.txt', '.md', '.csv'].join(',')

/** Texts included: one is the message's own. */
const MOST_FILES = 19
const MOST_BYTES = 20 * 2 ** 20

/** Returns null when such a file is not taken. */
const mediaTypeOf = ({ name, type }: File): string | null =>
  pictures.find((one) => one === type) ?? byEnding.get(name.split('.').at(-1)?.toLowerCase() ?? '') ?? null

/** Manages the files of the message that is being written. */
export function useAttachments() {
  const [files, setFiles] = useState<readonly Attachment[]>([])
  const [refusal, setRefusal] = useState<string | null>(null)
  const last = useRef<readonly Attachment[]>([])
  const previews = useRef<string[]>([])
  useEffect(() => () => previews.current.forEach((preview) => void URL.revokeObjectURL(preview)), [])

  const add = (chosen: readonly File[]) => {
    const all = [...files]
    setRefusal(null)
    for (const file of chosen) {
      const mediaType = mediaTypeOf(file)
      if (mediaType === null)
        setRefusal(`${file.name}: only pictures (PNG, JPEG, WebP, GIF), PDF, Word, Excel, text, Markdown and CSV.`)
      else
        all.push({
          id: newId(),
          name: file.name,
          size: file.size,
          mediaType,
          preview: previewOf(file, mediaType),
          source: file,
        })
    }
    if (all.length > MOST_FILES) setRefusal(`A message holds at most ${MOST_FILES} files.`)
    else if (all.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES)
      setRefusal('The files of one message may have 20 MiB at most.')
    else setFiles(all)
  }
  const previewOf = (file: File, mediaType: string): string | null => {
    if (!pictures.includes(mediaType)) return null
    const preview = URL.createObjectURL(file)
    previews.current.push(preview)
    return preview
  }
  return {
    files,
    refusal,
    add,
    /** Replaces the attachments with those of an earlier message, to be sent again. */
    take(parts: readonly ShownPart[]) {
      setFiles(parts.map(attachmentOf))
      setRefusal(null)
    },
    /** Replaces the attachments with those of the message that was sent last. */
    takeLast() {
      setFiles(last.current)
      setRefusal(null)
    },
    remove: (id: string) => setFiles(files.filter((one) => one.id !== id)),
    /** Removes the attachments of a message that was sent. */
    clear() {
      last.current = files
      setFiles([])
      setRefusal(null)
    },
    /** Restores the attachments of a message that was refused. */
    restore: (refused: readonly Attachment[]) => setFiles((now) => [...refused, ...now]),
  }
}

const newId = (): string => crypto.randomUUID?.() ?? `${Math.random()}`

const attachmentOf = ({ type, url, mediaType, filename, size }: ShownPart): Attachment => ({
  id: newId(),
  name: filename ?? mediaType,
  size,
  mediaType,
  preview: type === 'image_url' ? url : null,
  source: url,
})

async function partOf({ source, mediaType, preview }: Attachment): Promise<ContentPart> {
  if (typeof source !== 'string') return await filePart(source, { type: mediaType })
  return preview === null
    ? { type: 'file', file: { file_data: source } }
    : { type: 'image_url', image_url: { url: source } }
}

/** Returns the message as it is sent: files first, as vendors advise. */
export async function contentOf(
  text: string,
  files: readonly Attachment[],
): Promise<NonNullable<ChatRequest['message']>> {
  if (files.length === 0) return text
  const parts = await Promise.all(files.map(partOf))
  return text.trim() === '' ? parts : [...parts, { type: 'text', text }]
}

/** Returns the parts as the transcript shows them until the server's message is there. */
export const shownParts = (files: readonly Attachment[]): ShownPart[] =>
  files.map(({ name, size, mediaType, preview, source }) => ({
    type: preview === null ? 'file' : 'image_url',
    url: preview ?? (typeof source === 'string' ? source : ''),
    mediaType,
    filename: name,
    size,
  }))
