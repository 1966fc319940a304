import { Button, Group, Text } from '@mantine/core'
import { wholeNumber } from '../words.ts'

interface PagerProps {
  total: number
  /** True if there are more than `total`. */
  more?: boolean | undefined
  limit: number
  offset: number
  onOffset: (offset: number) => void
}

/** The part of a list that is shown, with links to the parts before and after. */
export function Pager({ total, more = false, limit, offset, onOffset }: PagerProps) {
  if (total <= limit && offset === 0) return null
  const range = (end: number) => wholeNumber(more ? end : Math.min(end, total))
  return (
    <Group justify="space-between" mt="md">
      <Text fz="sm" c="dimmed" role="status">
        {range(offset + 1)}–{range(offset + limit)} of {wholeNumber(total)}
        {more && '+'}
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={offset === 0}
          onClick={() => onOffset(Math.max(0, Math.min(offset, total) - limit))}
        >
          Previous
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={offset + limit >= total && !more}
          onClick={() => onOffset(offset + limit)}
        >
          Next
        </Button>
      </Group>
    </Group>
  )
}
