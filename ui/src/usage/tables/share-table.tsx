import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import card from '../../blocks/card.module.css'
import { wholeNumber } from '../../blocks/words.ts'
import type { UsageRow } from '../queries.ts'
import { Tokens } from '../tokens.tsx'
import classes from '../usage.module.css'
import type { RowNames } from './names.tsx'
import { otherWords, TopRows } from './top-rows.tsx'

export interface ShareTableProps {
  title: string
  /** The most first, as they come. */
  rows: UsageRow[]
  names: RowNames
}

/** The shares of usage: a bar as long as its share of the longest one, in two parts. */
export function ShareTable({ title, rows, names }: ShareTableProps) {
  const most = Math.max(1, ...rows.map(({ totalTokens }) => totalTokens))
  return (
    <TopRows rows={rows} text={({ key }) => names.text(key)} nouns={`${names.noun.toLowerCase()}s`}>
      {(shown, others) => (
        <Table className={`${card.table} ${classes.table}`} aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{names.noun}</Table.Th>
              <Table.Th>Replies</Table.Th>
              <Table.Th data-minor>Input</Table.Th>
              <Table.Th data-minor>Output</Table.Th>
              <Table.Th>Tokens</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((row) => (
              <Row key={row.key} counts={row} most={most}>
                {names.node(row.key)}
              </Row>
            ))}
            {others.length > 0 && <Row counts={sum(others)}>{otherWords(others.length)}</Row>}
          </Table.Tbody>
        </Table>
      )}
    </TopRows>
  )
}

type Counts = Pick<UsageRow, 'replies' | 'promptTokens' | 'completionTokens' | 'totalTokens' | 'estimated'>

const sum = (rows: readonly UsageRow[]): Counts =>
  rows.reduce<Counts>(
    (all, row) => ({
      replies: all.replies + row.replies,
      promptTokens: all.promptTokens + row.promptTokens,
      completionTokens: all.completionTokens + row.completionTokens,
      totalTokens: all.totalTokens + row.totalTokens,
      estimated: all.estimated || row.estimated,
    }),
    { replies: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0, estimated: false },
  )

interface RowProps {
  counts: Counts
  /** The greatest value. When absent, the row has no bar: it stands for several. */
  most?: number
  children: ReactNode
}

const Row = ({ counts, most, children }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <span className={classes.name}>{children}</span>
      {most !== undefined && (
        <span className={classes.share} aria-hidden>
          <i data-tone="prompt" style={{ width: `${(100 * counts.promptTokens) / most}%` }} />
          <i data-tone="completion" style={{ width: `${(100 * counts.completionTokens) / most}%` }} />
        </span>
      )}
    </Table.Td>
    <Table.Td>{wholeNumber(counts.replies)}</Table.Td>
    <Table.Td data-minor>
      <Tokens short count={counts.promptTokens} estimated={counts.estimated} />
    </Table.Td>
    <Table.Td data-minor>
      <Tokens short count={counts.completionTokens} estimated={counts.estimated} />
    </Table.Td>
    <Table.Td>
      <Tokens short count={counts.totalTokens} estimated={counts.estimated} />
    </Table.Td>
  </Table.Tr>
)
