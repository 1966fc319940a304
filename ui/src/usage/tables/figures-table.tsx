/** First token, duration, share of errors and cost, a row for each agent or model. */
import { Table } from '@mantine/core'
import card from '../../blocks/card.module.css'
import { wholeNumber } from '../../blocks/words.ts'
import { duration } from '../../chart/words.ts'
import type { UsageFiguresRow } from '../queries.ts'
import classes from '../usage.module.css'
import { money } from '../words.ts'
import type { RowNames } from './names.tsx'
import { otherWords, TopRows } from './top-rows.tsx'

interface FiguresTableProps {
  /** The rows, those with the most replies first, as the server sends them. */
  rows: UsageFiguresRow[]
  names: RowNames
  /** Null when no price is set. */
  currency: string | null
}

export function FiguresTable({ rows, names, currency }: FiguresTableProps) {
  return (
    // The key is the kind of rows, so that a search among agents does not stay when the table shows models.
    <TopRows key={names.noun} rows={rows} text={({ key }) => names.text(key)} nouns={`${names.noun.toLowerCase()}s`}>
      {(shown, others) => (
        <Table className={`${card.table} ${classes.table}`} aria-label="Speed, errors and cost">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{names.noun}</Table.Th>
              <Table.Th>First token p50</Table.Th>
              <Table.Th data-minor>p95</Table.Th>
              <Table.Th data-minor>Duration p50</Table.Th>
              <Table.Th>Errors</Table.Th>
              {currency && <Table.Th>Cost</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(({ key, replies, failures, firstTokenMs, durationMs, cost }) => (
              <Table.Tr key={key}>
                <Table.Td>
                  <span className={classes.name}>{names.node(key)}</span>
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
            {rows.length === 0 && (
              <Table.Tr>
                <Table.Td c="dimmed" colSpan={currency ? 6 : 5}>
                  No replies in this time.
                </Table.Td>
              </Table.Tr>
            )}
            {others.length > 0 && (
              <Table.Tr>
                <Table.Td>
                  <span className={classes.name}>{otherWords(others.length)}</span>
                </Table.Td>
                <Table.Td colSpan={currency ? 5 : 4} />
              </Table.Tr>
            )}
          </Table.Tbody>
        </Table>
      )}
    </TopRows>
  )
}

const time = (ms: number | null): string => (ms === null ? '–' : duration(ms))

const share = (part: number, whole: number): string =>
  part === 0 || whole === 0 ? '0 %' : `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %`
