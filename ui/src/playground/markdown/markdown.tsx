/**
 * A model's Markdown as React elements, never as HTML: tags are shown as text, links lead to web and mail
 * addresses only, pictures are shown after a click.
 */
import { Checkbox } from '@mantine/core'
import type { Token, Tokens } from 'marked'
import { Fragment, lazy, memo, type ReactNode, Suspense, useState } from 'react'
import { reliable } from '../../shell/reliable-import.ts'
import { closed, createSplitter, isFenceClosed, type KnownToken, known } from './blocks.ts'
import { Code } from './code.tsx'
import { plainText } from './entities.ts'
import classes from './markdown.module.css'
import { type Mark, markedText, marksWithin, nodesOf } from './marks.tsx'
import { Formula } from './rich/formula.tsx'
import { Picture } from './rich/picture.tsx'
import { MarkdownTable } from './rich/table.tsx'
import { SafeLink } from './safe-link.tsx'

interface MarkdownProps {
  text: string
  /** More text is coming. */
  growing?: boolean
  marks?: readonly Mark[] | undefined
}

export function Markdown({ text, growing = false, marks = none }: MarkdownProps) {
  const [split] = useState(createSplitter)
  const blocks = split(text)
  return (
    <div className={classes.markdown} data-growing={growing || undefined}>
      {blocks.map(({ token, start, dir }, index) => (
        <Block
          key={start}
          dir={dir}
          token={growing && index === blocks.length - 1 ? closed(token) : token}
          growing={growing}
          marks={marksWithin(marks, start, blocks[index + 1]?.start ?? text.length)}
        />
      ))}
    </div>
  )
}

const none: readonly Mark[] = []

interface BlockProps {
  token: KnownToken
  growing: boolean
  /** The direction; when absent, that of its text. */
  dir: 'ltr' | 'rtl' | undefined
  marks: readonly Mark[] | undefined
}

// A closed block keeps its token, whatever follows it.
const Block = memo(
  ({ token, growing, dir, marks }: BlockProps) => {
    if (marks === undefined) return block(token, growing, dir)
    if (token.type === 'paragraph') return <p dir={dir}>{markedInline(token.tokens, marks)}</p>
    return (
      <>
        {block(token, growing, dir)}
        {nodesOf(marks)}
      </>
    )
  },
  (before, after) =>
    before.token === after.token &&
    before.marks === after.marks &&
    (before.growing === after.growing || after.token.type !== 'code'),
)

function markedInline(tokens: Token[], marks: readonly Mark[]): ReactNode[] {
  let start = 0
  return each(tokens, (token) => {
    const within = marksWithin(marks, start, start + token.raw.length)
    start += token.raw.length
    if (within === undefined) return span(token)
    if (token.type === 'text' && !token.tokens) return markedText(token.raw, within)
    return (
      <>
        {span(token)}
        {nodesOf(within)}
      </>
    )
  })
}

function block(token: KnownToken, growing = false, dir: BlockProps['dir'] | 'auto' = 'auto'): ReactNode {
  switch (token.type) {
    case 'heading':
      return (
        <h3 className={classes.heading} data-depth={token.depth} dir="auto">
          {inline(token.tokens)}
        </h3>
      )
    case 'paragraph':
      return <p dir={dir}>{inline(token.tokens)}</p>
    case 'text':
      return token.tokens ? inline(token.tokens) : plainText(token.text)
    case 'code':
      return fence(token, growing && !isFenceClosed(token.raw))
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens)}</blockquote>
    case 'list':
      return list(token)
    case 'table':
      return <MarkdownTable token={token} inline={inline} />
    case 'mathBlock':
      return <Formula token={token} />
    case 'hr':
      return <hr />
    case 'html':
      return <p dir="auto">{token.text}</p>
    case 'space':
    case 'def':
      return null
    default:
      return inline([token])
  }
}

const Diagram = lazy(reliable(() => import('./rich/diagram.tsx')))

/** Renders a fenced block. A diagram is drawn once all of its source has arrived. */
function fence({ text, lang = '' }: Tokens.Code, growing: boolean): ReactNode {
  const code = <Code code={text} language={lang} growing={growing} mayFold />
  if (growing || !/^mermaid\b/.test(lang)) return code
  return (
    <Suspense fallback={code}>
      <Diagram source={text} />
    </Suspense>
  )
}

// Only its index tells one token from another; text only grows at its end.
const each = (tokens: Token[], draw: (token: KnownToken) => ReactNode): ReactNode[] =>
  known(tokens).map((token, place) => <Fragment key={`${place}`}>{draw(token)}</Fragment>)

const blocks = (tokens: Token[]): ReactNode[] => each(tokens, (token) => block(token))

const inline = (tokens: Token[]): ReactNode[] => each(tokens, span)

function span(token: KnownToken): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'del':
      return <del>{inline(token.tokens)}</del>
    case 'math':
      return <Formula token={token} />
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <SafeLink href={token.href}>{inline(token.tokens)}</SafeLink>
    case 'image':
      return <Picture href={token.href} words={token.text} />
    case 'checkbox':
      return (
        <Checkbox size="xs" checked={token.checked} readOnly disabled aria-label="Task" display="inline-block" mr={8} />
      )
    case 'text':
      return token.tokens ? inline(token.tokens) : plainText(token.text)
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const entries = items.map(({ tokens, task, raw }, place) => (
    <li key={`${place}`} dir="auto" data-task={task || undefined} aria-label={raw === '' ? 'Empty' : undefined}>
      {blocks(tokens)}
    </li>
  ))
  return ordered ? (
    <ol dir="auto" start={start === '' ? 1 : start}>
      {entries}
    </ol>
  ) : (
    <ul dir="auto">{entries}</ul>
  )
}
