import { Button, Loader, Text } from '@mantine/core'
import { useState } from 'react'
import { useLocation, useNavigate, useNavigation } from 'react-router'
import { wholeSeconds } from '../../blocks/time-words.ts'
import { useNow } from '../../blocks/use-now.ts'
import { tryNow, useReachable } from '../connection.ts'
import { sections } from '../navigation.ts'
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
          <AwayFor />
          <ClickedPage />
        </>
      )}
    </div>
  )
}

/** The time since the server was last heard, which no screen reader repeats each second. */
function AwayFor() {
  const now = useNow()
  const [since] = useState(now)
  return (
    <>
      <Text fz="sm" aria-hidden>
        for {wholeSeconds(now - since)}
      </Text>
      <Button size="compact-xs" variant="default" onClick={tryNow}>
        Try now
      </Button>
    </>
  )
}

/** The page that was clicked, and waits for the server. */
function ClickedPage() {
  const { location: clicked } = useNavigation()
  const { pathname, search, hash } = useLocation()
  const navigate = useNavigate()
  if (clicked === undefined) return null
  const page = sections.flatMap(({ pages }) => pages).find(({ to }) => to === clicked.pathname)
  return (
    <>
      <Text fz="sm">{page?.label ?? 'The page'} opens when it is back.</Text>
      <Button
        size="compact-xs"
        variant="default"
        aria-label="Stay on this page"
        onClick={() => void navigate({ pathname, search, hash }, { replace: true, preventScrollReset: true })}
      >
        Cancel
      </Button>
    </>
  )
}
