/** A drawer whose code is fetched when it is opened for the first time: most visits never open one. */
import type { DrawerProps } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { reliable } from '../../shell/reliable-import.ts'

const OpenedDrawer = lazy(reliable(() => import('./opened-drawer.tsx')))

export const LateDrawer = ({ opened, ...props }: DrawerProps) =>
  opened && (
    <Suspense>
      <OpenedDrawer {...props} />
    </Suspense>
  )
