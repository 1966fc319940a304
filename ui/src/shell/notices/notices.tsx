/**
 * A notice of a completed action, in a corner. Its code is fetched with the first notice: most visits end without one.
 */
import { useNotifications } from '@mantine/notifications'
import { lazy, Suspense, useState } from 'react'
import { reliable } from '../reliable-import.ts'

const NoticeList = lazy(reliable(() => import('./notice-list.ts')))

export function Notices() {
  const { notifications } = useNotifications()
  const [wanted, setWanted] = useState(false)
  if (notifications.length > 0 && !wanted) setWanted(true)
  return (
    wanted && (
      <Suspense>
        <NoticeList position="bottom-right" />
      </Suspense>
    )
  )
}
