/** Rows in place of those that are being read: as high, and as many as a page shows without scrolling. */
import { Skeleton, Table } from '@mantine/core'

const EXPECTED = 12

export const AwaitedRows = ({ columns }: { columns: number }) =>
  Array.from({ length: EXPECTED }, (_, row) => (
    <Table.Tr key={row} aria-hidden>
      <Table.Td colSpan={columns}>
        <Skeleton height={10} width={`${72 - ((row * 17) % 40)}%`} />
      </Table.Td>
    </Table.Tr>
  ))
