import { Loader, Text } from '@mantine/core'
import { useReachable } from '../connection.ts'
import classes from '../shell.module.css'

/** Shown for as long as the server does not answer. */
export function UnreachableNotice() {
  const reachable = useReachable()
  return (
    <div role="status" className={classes.notice} data-shown={!reachable || undefined}>
      {!reachable && (
        <>
          <Loader size={14} color="currentColor" aria-hidden />
          <Text fz="sm" fw={500}>
            Greenroom cannot be reached. Trying again…
          </Text>
        </>
      )}
    </div>
  )
}
