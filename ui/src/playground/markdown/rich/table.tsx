/** A table that can be copied as CSV. */
import { Table } from '@mantine/core'
import type { Token, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { Copy } from '../../../blocks/copy.tsx'
import { plainText } from '../entities.ts'
import classes from '../markdown.module.css'
import { csvOf } from './csv.ts'

interface MarkdownTableProps {
  token: Tokens.Table
  inline: (tokens: Token[]) => ReactNode
}

export const MarkdownTable = ({ token: { header, rows }, inline }: MarkdownTableProps) => (
  <div>
    <div className={classes.tableTools}>
      <Copy
        text={csvOf([header, ...rows].map((cells) => cells.map(({ tokens }) => wordsOf(tokens))))}
        label="Copy as CSV"
      />
    </div>
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
  </div>
)

/** Returns the text without Markdown's markers. */
const wordsOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if ('tokens' in token && token.tokens) return wordsOf(token.tokens)
      return token.type === 'br' ? '\n' : plainText('text' in token ? String(token.text) : token.raw)
    })
    .join('')
