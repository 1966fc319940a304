/** Shows what a span was about beside its row: in the side of the workbench, else next to the list, else below the row. */
import { ActionIcon, Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconX } from '@tabler/icons-react'
import { type ReactNode, useContext, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { SpanSide } from './span-side.ts'
import classes from './traces.module.css'

/** Enough for rows that can be read and a piece of JSON beside each other. */
const ROOM_BESIDE_PX = 640

interface OpenedSpanProps {
  /** Name of the span that is open. It is null while none is. */
  name: ReactNode | null
  detail: ReactNode
  onClose: () => void
  /** The list; `below` belongs into the open row's item. */
  children: (below: ReactNode) => ReactNode
}

export function OpenedSpan({ name, detail, onClose, children }: OpenedSpanProps) {
  const side = useContext(SpanSide)?.current ?? null
  const { ref, width } = useElementSize()
  const isBeside = side === null && width >= ROOM_BESIDE_PX
  const { list, top } = useTopOfOpenRow()
  const isBelow = side === null && !isBeside
  return (
    <div ref={ref}>
      <div ref={list} className={classes.spans} data-beside={(isBeside && name !== null) || undefined}>
        {children(isBelow && detail)}
        {isBeside && name !== null && <div style={{ marginTop: top }}>{detail}</div>}
      </div>
      {side !== null && name !== null && createPortal(<InSide {...{ name, detail, onClose }} />, side)}
    </div>
  )
}

const InSide = ({ name, detail, onClose }: Pick<OpenedSpanProps, 'name' | 'detail' | 'onClose'>) => (
  <>
    <Group wrap="nowrap" justify="space-between" className={classes.sideHead ?? ''}>
      <Text fw={500} fz="sm" truncate>
        {name}
      </Text>
      <ActionIcon variant="subtle" color="gray" aria-label="Close the span" onClick={onClose}>
        <IconX size={16} stroke={1.7} />
      </ActionIcon>
    </Group>
    {detail}
  </>
)

/** Returns how far the open row is below the list's top: its detail begins at that height. */
function useTopOfOpenRow() {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('li > div > [aria-expanded="true"]:not([aria-label])')
    if (row && list.current) setTop(row.getBoundingClientRect().top - list.current.getBoundingClientRect().top)
  })
  return { list, top }
}
