import { Drawer, type DrawerProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useFocusBack } from './use-focus-back.ts'

/** A drawer that is there only while it is open. It is mounted closed and then opens: so it moves in. */
export default function OpenedDrawer(props: Omit<DrawerProps, 'opened'>) {
  useFocusBack()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(true), [])
  return <Drawer opened={isOpen} {...props} />
}
