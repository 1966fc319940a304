import { Table } from '@mantine/core'
import { Card } from '../../blocks/card.tsx'
import classes from '../chart-page.module.css'
import { FromTo } from '../chips/from-to.tsx'
import { StateChip } from '../chips/state-chip.tsx'
import type { Traffic } from '../queries.ts'
import { duration } from '../words.ts'
import styles from './traffic.module.css'
import { heatOf } from './traffic-marks.ts'

export function TransitionsTable({ traffic: { transitions } }: { traffic: Traffic }) {
  const most = Math.max(1, ...transitions.map(({ count }) => count))
  return (
    <Card title="Transitions taken">
      <Table className={classes.table ?? ''} aria-label="Transitions taken">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Transition</Table.Th>
            <Table.Th w="7rem" ta="right">
              Times
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {transitions
            .toSorted((one, other) => other.count - one.count)
            .map(({ id, source, target, event, count }) => (
              <Table.Tr key={id} data-transition={id}>
                <Table.Td>
                  <div className={styles.taken}>
                    <span className={classes.eventName}>{event}</span>
                    <FromTo from={source} to={target} />
                  </div>
                </Table.Td>
                <Table.Td ta="right" className={classes.number ?? ''}>
                  {count.toLocaleString('en')}
                  <i className={styles.bar} style={{ width: `${(100 * count) / most}%` }} aria-hidden />
                </Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Card>
  )
}

export function StatesTable({ traffic: { states } }: { traffic: Traffic }) {
  const innermost = states.filter(({ id }) => !states.some((other) => other.id.startsWith(`${id}.`)))
  return (
    <Card title="Time in each state">
      <Table className={classes.table ?? ''} aria-label="Time in each state">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>State</Table.Th>
            <Table.Th ta="right">Visits</Table.Th>
            <Table.Th ta="right">p50</Table.Th>
            <Table.Th ta="right">p95</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {innermost.map(({ id, visits, p50Ms, p95Ms }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <StateChip id={id} />
              </Table.Td>
              <Table.Td ta="right" className={classes.number ?? ''}>
                {visits.toLocaleString('en')}
              </Table.Td>
              <Table.Td ta="right" className={classes.number ?? ''}>
                {p50Ms === null ? '–' : duration(p50Ms)}
                {p50Ms !== null && <i className={styles.heat} style={{ opacity: heatOf(p50Ms) }} aria-hidden />}
              </Table.Td>
              <Table.Td ta="right" className={classes.number ?? ''}>
                {p95Ms === null ? '–' : duration(p95Ms)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <p className={styles.aside}>
        A visit counts once it has ended: for complete, error and cancelled, when the next message arrives.
      </p>
    </Card>
  )
}
