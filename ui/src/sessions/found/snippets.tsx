/** The results of a search in a session: pieces of its messages with the found words marked, each leading to its message. */
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { components } from '../../../../openapi/generated/schema.ts'
import { foundState } from '../../playground/finding/found.ts'
import classes from './snippets.module.css'

type Snippet = components['schemas']['FoundSnippet']

interface SnippetsProps {
  agentId: string
  sessionId: string
  snippets: readonly Snippet[]
  onChosen?: (() => void) | undefined
}

export const Snippets = ({ agentId, sessionId, snippets, onChosen }: SnippetsProps) => (
  <ul className={classes.snippets} aria-label="Found in">
    {snippets.map((snippet) => (
      <li key={snippet.messageId}>
        <Link
          to={`/playground/${agentId}/${sessionId}#${snippet.messageId}`}
          state={foundState(snippets)}
          dir="auto"
          onClick={(event) => {
            event.stopPropagation()
            onChosen?.()
          }}
        >
          {snippet.role === 'user' ? 'User: ' : ''}
          {marked(snippet)}
        </Link>
      </li>
    ))}
  </ul>
)

function marked({ text, marks }: Snippet): ReactNode[] {
  const pieces: ReactNode[] = []
  let at = 0
  for (const [start = 0, end = 0] of marks) {
    pieces.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return [...pieces, text.slice(at)]
}
