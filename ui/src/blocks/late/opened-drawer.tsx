import { Drawer, type DrawerProps } from '@mantine/core'
import { useEffect, useState } from 'react'

/** It is there closed first, and opens then: so it moves in, and gives the focus back to what opened it. */
export default function OpenedDrawer({ opened, ...props }: DrawerProps) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(opened), [opened])
  return <Drawer opened={isOpen} {...props} />
}
