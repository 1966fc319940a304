/** Pictures and files: those of a message, and those that are about to be sent. */
import { ActionIcon } from '@mantine/core'
import { IconFileText, IconX } from '@tabler/icons-react'
import type { ShownPart } from '../connection/live-reply.ts'
import classes from './attached.module.css'
import type { Attachment } from './attachments.ts'

export const MessageParts = ({ parts }: { parts: readonly ShownPart[] }) => (
  <ul className={classes.parts} aria-label="Attached">
    {parts.map((part, index) => (
      <li key={`${index} ${part.url}`}>
        {part.type === 'image_url' ? <Picture part={part} /> : <FileLink part={part} />}
      </li>
    ))}
  </ul>
)

const nameOf = ({ filename, mediaType }: ShownPart): string => filename ?? mediaType

function Picture({ part }: { part: ShownPart }) {
  return (
    <a href={part.url} target="_blank" rel="noreferrer" className={classes.picture}>
      <img src={part.url} alt={`Attached: ${nameOf(part)}`} loading="lazy" />
    </a>
  )
}

function FileLink({ part }: { part: ShownPart }) {
  const label = (
    <>
      <IconFileText size={18} stroke={1.6} aria-hidden />
      <span>{nameOf(part)}</span>
      <small>{sizeWords(part.size)}</small>
    </>
  )
  if (part.url === '') return <span className={classes.file}>{label}</span>
  return (
    <a href={part.url} download={part.filename ?? true} className={classes.file}>
      {label}
    </a>
  )
}

/** The attachments of the message that is being written; each part can be removed again. */
export const Attachments = ({ files, onRemove }: { files: readonly Attachment[]; onRemove: (id: string) => void }) => (
  <ul className={classes.parts} aria-label="To be sent">
    {files.map(({ id, name, size, preview }) => (
      <li key={id} className={classes.removable}>
        {preview === null ? (
          <span className={classes.file}>
            <IconFileText size={18} stroke={1.6} aria-hidden />
            <span>{name}</span>
            <small>{sizeWords(size)}</small>
          </span>
        ) : (
          <span className={classes.picture}>
            <img src={preview} alt={name} />
          </span>
        )}
        <ActionIcon
          className={classes.remove ?? ''}
          size={22}
          radius="xl"
          variant="default"
          aria-label={`Remove ${name}`}
          onClick={() => onRemove(id)}
        >
          <IconX size={13} stroke={2.2} />
        </ActionIcon>
      </li>
    ))}
  </ul>
)

const sizeWords = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 2 ** 20
      ? `${Math.round(bytes / 1024)} KiB`
      : `${(bytes / 2 ** 20).toFixed(1)} MiB`
