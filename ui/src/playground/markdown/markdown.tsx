/**
 * A model's Markdown as React elements, never as HTML: tags are shown as text, links lead to web and mail
 * addresses only, images are links.
 */
import { Checkbox, Table } from '@mantine/core'
import type { Token, Tokens } from 'marked'
import { Fragment, memo, type ReactNode, useState } from 'react'
import { closed, createSplitter, isFenceClosed, type KnownToken, known } from './blocks.ts'
import { Code } from './code.tsx'
import { plainText } from './entities.ts'
import classes from './markdown.module.css'

/** `growing`: more text is coming. */
export function Markdown({ text, growing = false }: { text: string; growing?: boolean }) {
  const [split] = useState(createSplitter)
  const blocks = split(text)
  return (
    <div className={classes.markdown}>
      {blocks.map(({ token, start, dir }, index) => (
        <Block
          key={start}
          dir={dir}
          token={growing && index === blocks.length - 1 ? closed(token) : token}
          growing={growing}
        />
      ))}
    </div>
  )
}

interface BlockProps {
  token: KnownToken
  growing: boolean
  /** When absent, its text's own. */
  dir: 'ltr' | 'rtl' | undefined
}

// A closed block keeps its token, whatever follows it.
const Block = memo(
  ({ token, growing, dir }: BlockProps) => block(token, growing, dir),
  (before, after) => before.token === after.token && (before.growing === after.growing || after.token.type !== 'code'),
)

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
      return <Code code={token.text} language={token.lang ?? ''} growing={growing && !isFenceClosed(token.raw)} />
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens)}</blockquote>
    case 'list':
      return list(token)
    case 'table':
      return table(token)
    case 'mathBlock':
      return (
        <pre className={classes.math} dir="ltr">
          {token.text}
        </pre>
      )
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
      return (
        <code className={classes.math} dir="ltr">
          {token.text}
        </code>
      )
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <SafeLink href={token.href}>{inline(token.tokens)}</SafeLink>
    case 'image':
      return <SafeLink href={token.href}>{token.text || 'Image'}</SafeLink>
    case 'checkbox':
      return (
        <Checkbox size="xs" checked={token.checked} readOnly disabled aria-label="Task" display="inline-block" mr={6} />
      )
    case 'text':
      return token.tokens ? inline(token.tokens) : plainText(token.text)
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  const isSafe = URL.canParse(href) && /^(?:https?|mailto):$/.test(new URL(href).protocol)
  if (!isSafe) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
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

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    <Table.ScrollContainer minWidth={0} type="native" className={classes.table ?? ''}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {header.map(({ tokens, align }, column) => (
              <Table.Th key={`${column}`} dir="auto" ta={align ?? 'start'}>
                {inline(tokens)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, row) => (
            <Table.Tr key={`${row}`}>
              {cells.map(({ tokens, align }, column) => (
                <Table.Td key={`${column}`} dir="auto" ta={align ?? 'start'}>
                  {inline(tokens)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
