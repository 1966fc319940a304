import { Drawer, type DrawerProps } from '@mantine/core'
import { useEffect, useState } from 'react'

/**
 * A drawer that is mounted closed and then opens. So it moves in, and returns the focus to the element that opened it.
 */
export default function OpenedDrawer({ opened, ...props }: DrawerProps) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(opened), [opened])
  return <Drawer opened={isOpen} {...props} />
}
