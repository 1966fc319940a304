/** A drawer whose code is fetched when it is opened for the first time: most visits never open one. */
import type { DrawerProps } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { reliable } from '../../shell/reliable-import.ts'

const OpenedDrawer = lazy(reliable(() => import('./opened-drawer.tsx')))

export function LateDrawer(props: DrawerProps) {
  const [wanted, setWanted] = useState(false)
  if (props.opened && !wanted) setWanted(true)
  return (
    wanted && (
      <Suspense>
        <OpenedDrawer {...props} />
      </Suspense>
    )
  )
}
