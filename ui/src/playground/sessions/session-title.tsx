/** The session's title. A double click, or the pencil beside it, changes it. */
import { ActionIcon, TextInput, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconPencil } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { wordsOf } from '../../api.ts'
import { renameSession, type Session } from '../queries.ts'
import classes from './session-title.module.css'

interface SessionTitleProps {
  title: string
  /** Undefined while there is no session; the title is not shown then. */
  session: Session | undefined
}

export function SessionTitle({ title, session }: SessionTitleProps) {
  const [isEditing, setEditing] = useState(false)
  const edit = () => setEditing(true)
  if (session && isEditing) return <Field session={session} onClose={() => setEditing(false)} />
  return (
    <div className={classes.line}>
      <Title order={1} className={classes.title} title={title} dir="auto" onDoubleClick={session && edit}>
        {title}
      </Title>
      {session && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label="Rename this session"
          title="Rename"
          onClick={edit}
        >
          <IconPencil size={14} stroke={1.7} />
        </ActionIcon>
      )}
    </div>
  )
}

/** The server takes no more. */
const MOST_CHARACTERS = 200

function Field({ session, onClose }: { session: Session; onClose: () => void }) {
  const [text, setText] = useState(session.title ?? '')
  const renaming = useMutation({
    mutationFn: (title: string) => renameSession(session, title === '' ? null : title),
    onError: (error) => notifications.show({ color: 'red', message: wordsOf(error) }),
    onSuccess: onClose,
  })
  const save = () => {
    if (renaming.isPending) return
    if (text.trim() === (session.title ?? '')) onClose()
    else renaming.mutate(text.trim())
  }
  return (
    <TextInput
      size="xs"
      aria-label="Title of this session"
      placeholder="From the first message"
      attributes={{ input: { dir: 'auto' } }}
      autoFocus
      maxLength={MOST_CHARACTERS}
      value={text}
      disabled={renaming.isPending}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={({ currentTarget: { value } }) => setText(value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save()
        else if (event.key === 'Escape') onClose()
        else return
        event.preventDefault()
      }}
    />
  )
}
