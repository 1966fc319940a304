/** A fenced block: highlighted once the highlighter is loaded, unless the text is too long. */
import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconTextWrap } from '@tabler/icons-react'
import { useState } from 'react'
import { CodeBlock } from '../../blocks/code-block.tsx'
import { wholeNumber } from '../../blocks/words.ts'
import { onDemand } from './on-demand.ts'

/** Highlighting takes about 1 ms for 2,000 characters, for every frame while the block grows. */
const mostGrowing = 4_000
const most = 60_000
/** Lines that are laid out together: the more, the more each new line costs. */
const linesTogether = 100
/** A longer block begins folded, where blocks fold. */
const mostLines = 20

const useHighlighter = onDemand(() => import('./highlight.tsx'))

interface CodeProps {
  code: string
  language: string
  /** The heading over the code; by default its language. */
  caption?: string
  /** More is coming. */
  growing?: boolean
  /** A long one may be folded: not where what is around it folds as a whole. */
  mayFold?: boolean
}

export function Code({ code, language, caption, growing = false, mayFold = false }: CodeProps) {
  const [name = ''] = language.split(/\s/)
  const highlighter = useHighlighter(name !== '')
  const coloured = code.length <= (growing ? mostGrowing : most) ? highlighter?.highlight(code, name) : null
  // A block that grew before the reader's eyes is not folded afterwards.
  const [isFolded, setFolded] = useState(!growing)
  const [wraps, setWraps] = useState(false)
  const lines = code.split('\n').length
  const folds = mayFold && lines > mostLines && !growing
  return (
    <CodeBlock
      code={code}
      caption={caption ?? (name || 'Text')}
      isFolded={folds && isFolded}
      wraps={wraps}
      actions={
        <Tooltip label={wraps ? 'Keep long lines' : 'Wrap long lines'}>
          <ActionIcon
            variant={wraps ? 'light' : 'subtle'}
            color="gray"
            aria-label="Wrap long lines"
            aria-pressed={wraps}
            onClick={() => setWraps(!wraps)}
          >
            <IconTextWrap size={16} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      }
      below={
        folds && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            fullWidth
            aria-expanded={!isFolded}
            onClick={() => setFolded(!isFolded)}
          >
            {isFolded ? `Show all ${wholeNumber(lines)} lines` : 'Show less'}
          </Button>
        )
      }
    >
      {coloured ?? <Lines text={code} />}
    </CodeBlock>
  )
}

function Lines({ text }: { text: string }) {
  const lines = text.split('\n')
  if (lines.length <= linesTogether) return text
  const parts: string[] = []
  for (let at = 0; at < lines.length; at += linesTogether) parts.push(lines.slice(at, at + linesTogether).join('\n'))
  return parts.map((part, place) => (
    <span key={`${place}`} data-lines>
      {part}
    </span>
  ))
}
