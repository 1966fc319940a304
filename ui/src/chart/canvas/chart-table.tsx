import { Table } from '@mantine/core'
import card from '../../blocks/card.module.css'
import classes from '../chart-page.module.css'
import { StateWord } from '../chips/state-chip.tsx'
import { isActive, toneOf } from '../machine.ts'
import type { Chart } from '../step.ts'

interface ChartTableProps {
  chart: Chart
  /** Innermost state of the shown actor. */
  current: string | null
  /** The transition that led there. */
  taken: string | null
  /** Whether it stands in the place of the picture. */
  isAlone: boolean
}

/** The chart as text: for screen readers, to be searched, and where the picture has no room. */
export function ChartTable({ chart, current, taken, isAlone }: ChartTableProps) {
  return (
    <details className={classes.words} open={isAlone}>
      <summary>States and transitions as a table</summary>
      <div>
        <Table className={`${card.table} ${classes.table}`} aria-label="States and transitions">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="36%">State</Table.Th>
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
                      <div
                        key={transition.id}
                        className={classes.way}
                        aria-current={transition.id === taken || undefined}
                      >
                        <b>{transition.event}</b> → <StateWord id={transition.target} />
                        <span className={classes.meaning}>{transition.description}</span>
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
