/** Approves the calls of one tool in all sessions of the page that ask for nothing else. Asks once more before it does. */
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useOwnNames } from '../agents/tool-name.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { plural } from '../blocks/words.ts'
import classes from './inbox.module.css'
import { approveAll, type WaitingSession } from './queries.ts'

/** Returns the sessions by the tool that waits for approval, where several wait for the same. */
function askedTools(sessions: readonly WaitingSession[]): [name: string, sessions: WaitingSession[]][] {
  const alike = sessions.filter(({ pending }) =>
    pending.every(({ name, kind }) => kind === 'approval' && name === pending[0]?.name),
  )
  return [...Map.groupBy(alike, ({ pending }) => pending[0]?.name ?? '')].filter(([, of]) => of.length > 1)
}

export function ApproveMany({ sessions }: { sessions: readonly WaitingSession[] }) {
  // The sessions of the moment of the question: what comes in meanwhile has been seen by nobody.
  const [asked, setAsked] = useState<{ name: string; of: WaitingSession[] } | null>(null)
  const approving = useMutation({ mutationFn: approveAll, onSettled: () => setAsked(null) })
  const tools = askedTools(sessions)
  const own = useOwnNames(tools.map(([name]) => name))
  if (tools.length === 0) return null
  return (
    <div className={classes.many}>
      {tools.map(([name, of]) =>
        asked?.name === name ? (
          <Button
            key={name}
            size="xs"
            autoFocus
            loading={approving.isPending}
            // The second click of a double click, and a key that is held down, are no answer.
            onKeyDown={(event) => event.repeat && event.preventDefault()}
            onClick={({ detail }) => detail < 2 && approving.mutate(asked.of)}
            onBlur={() => !approving.isPending && setAsked(null)}
          >
            Yes, approve {own(name)} in {plural(asked.of.length, 'session')}
          </Button>
        ) : (
          <Button key={name} size="xs" variant="default" onClick={() => setAsked({ name, of })}>
            Approve all of {own(name)} ({of.length})
          </Button>
        ),
      )}
      <ErrorAlert error={approving.error} />
    </div>
  )
}
