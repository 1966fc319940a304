import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { Card } from '../blocks/card.tsx'
import type { UsageRow } from './queries.ts'
import { Tokens } from './tokens.tsx'
import classes from './usage.module.css'
import { wholeNumber } from './words.ts'

interface ShareTableProps {
  title: string
  /** The heading of the first column. */
  noun: string
  /** The most first, as they come. */
  rows: UsageRow[]
  name: (key: string) => ReactNode
}

/** Who used how much: a bar as long as its share of the longest one, in two parts. */
export function ShareTable({ title, noun, rows, name }: ShareTableProps) {
  const most = Math.max(1, ...rows.map(({ totalTokens }) => totalTokens))
  return (
    <Card title={title}>
      <Table className={classes.table ?? ''} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{noun}</Table.Th>
            <Table.Th>Replies</Table.Th>
            <Table.Th data-minor>Input</Table.Th>
            <Table.Th data-minor>Output</Table.Th>
            <Table.Th>Tokens</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, replies, promptTokens, completionTokens, totalTokens, estimated }) => (
            <Table.Tr key={key}>
              <Table.Td>
                <span className={classes.name}>{name(key)}</span>
                <span className={classes.share} aria-hidden>
                  <i data-tone="prompt" style={{ width: `${(100 * promptTokens) / most}%` }} />
                  <i data-tone="completion" style={{ width: `${(100 * completionTokens) / most}%` }} />
                </span>
              </Table.Td>
              <Table.Td>{wholeNumber(replies)}</Table.Td>
              <Table.Td data-minor>
                <Tokens short count={promptTokens} estimated={estimated} />
              </Table.Td>
              <Table.Td data-minor>
                <Tokens short count={completionTokens} estimated={estimated} />
              </Table.Td>
              <Table.Td>
                <Tokens short count={totalTokens} estimated={estimated} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}
