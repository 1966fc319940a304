/** First token, duration, share of errors and cost, a row for each agent or model. */
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { duration } from '../chart/words.ts'
import type { UsageFiguresRow } from './queries.ts'
import classes from './usage.module.css'
import { money, wholeNumber } from './words.ts'

interface FiguresTableProps {
  rows: UsageFiguresRow[]
  noun: string
  name: (key: string) => ReactNode
  /** Null when no price is set. */
  currency: string | null
}

export function FiguresTable({ rows, noun, name, currency }: FiguresTableProps) {
  return (
    <Table className={classes.table ?? ''} aria-label="Speed, errors and cost">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{noun}</Table.Th>
          <Table.Th>First token p50</Table.Th>
          <Table.Th data-minor>p95</Table.Th>
          <Table.Th data-minor>Duration p50</Table.Th>
          <Table.Th>Errors</Table.Th>
          {currency && <Table.Th>Cost</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ key, replies, failures, firstTokenMs, durationMs, cost }) => (
          <Table.Tr key={key}>
            <Table.Td>
              <span className={classes.name}>{name(key)}</span>
            </Table.Td>
            <Table.Td>{time(firstTokenMs.p50)}</Table.Td>
            <Table.Td data-minor>{time(firstTokenMs.p95)}</Table.Td>
            <Table.Td data-minor>{time(durationMs.p50)}</Table.Td>
            <Table.Td title={`${wholeNumber(failures)} of ${wholeNumber(replies)}`}>
              {share(failures, replies)}
            </Table.Td>
            {currency && <Table.Td>{cost === null ? 'no price' : money(currency, cost)}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

const time = (ms: number | null): string => (ms === null ? '–' : duration(ms))

const share = (part: number, whole: number): string =>
  part === 0 || whole === 0 ? '0 %' : `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %`
