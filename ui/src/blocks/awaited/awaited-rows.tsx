/** Beside awaited.tsx, since the first pages have no table. */
import { Table } from '@mantine/core'
import { AwaitedLine, EXPECTED } from './awaited.tsx'

/** Rows of a table that is being read, below its head. */
export const AwaitedRows = ({ columns }: { columns: number }) =>
  Array.from({ length: EXPECTED }, (_, row) => (
    <Table.Tr key={row} aria-hidden>
      <Table.Td colSpan={columns}>
        <AwaitedLine place={row} />
      </Table.Td>
    </Table.Tr>
  ))
