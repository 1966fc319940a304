import { Table } from '@mantine/core'
import card from '../../blocks/card.module.css'
import classes from '../chart-page.module.css'
import { StateWord } from '../chips/state-chip.tsx'
import { isActive, toneOf } from '../machine.ts'
import type { LaidOutChart } from './use-chart.ts'

interface ChartTableProps {
  laidOut: LaidOutChart
  /** Innermost state of the shown actor. */
  current?: string | null
}

/** The chart as text: for screen readers, and to be searched. */
export function ChartTable({ laidOut: { chart }, current = null }: ChartTableProps) {
  if (chart === undefined) return null
  return (
    <details className={classes.words}>
      <summary>States and transitions as a table</summary>
      <div className={classes.scroll}>
        <Table className={`${card.table} ${classes.table}`} aria-label="States and transitions">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>State</Table.Th>
              <Table.Th>Leads to</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {chart.states.map(({ id, description }) => (
              <Table.Tr
                key={id}
                data-tone={toneOf(id)}
                data-lit={isActive(id, current) || undefined}
                aria-current={isActive(id, current) || undefined}
              >
                <Table.Td>
                  <b className={classes.stateWord}>
                    <i className={classes.dot} aria-hidden />
                    <StateWord id={id} />
                  </b>
                  <span className={classes.meaning}>{description}</span>
                </Table.Td>
                <Table.Td>
                  {chart.transitions
                    .filter(({ source }) => source === id)
                    .map((transition) => (
                      <div key={transition.id} className={classes.way}>
                        <span>{transition.event}</span> → <StateWord id={transition.target} />
                      </div>
                    ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </details>
  )
}
