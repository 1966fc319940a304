/** Approves the calls of one tool in all sessions of the page that ask for nothing else. Asks once more before it does. */
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { plural } from '../blocks/words.ts'
import classes from './inbox.module.css'
import { approveAll, type WaitingSession } from './queries.ts'

/** Sessions by the tool that they ask for, where several do. */
function askedTools(sessions: readonly WaitingSession[]): [name: string, sessions: WaitingSession[]][] {
  const alike = sessions.filter(({ pending }) =>
    pending.every(({ name, kind }) => kind === 'approval' && name === pending[0]?.name),
  )
  return [...Map.groupBy(alike, ({ pending }) => pending[0]?.name ?? '')].filter(([, of]) => of.length > 1)
}

export function ApproveMany({ sessions }: { sessions: readonly WaitingSession[] }) {
  const [asked, setAsked] = useState<string | null>(null)
  const approving = useMutation({ mutationFn: approveAll, onSettled: () => setAsked(null) })
  const tools = askedTools(sessions)
  if (tools.length === 0) return null
  return (
    <div className={classes.many}>
      {tools.map(([name, of]) =>
        asked === name ? (
          <Button
            key={name}
            size="xs"
            autoFocus
            loading={approving.isPending}
            onClick={() => approving.mutate(of)}
            onBlur={() => !approving.isPending && setAsked(null)}
          >
            Yes, approve {name} in {plural(of.length, 'session')}
          </Button>
        ) : (
          <Button key={name} size="xs" variant="default" onClick={() => setAsked(name)}>
            Approve all of {name} ({of.length})
          </Button>
        ),
      )}
      <ErrorAlert error={approving.error} />
    </div>
  )
}
