/** `/replays/:agentId/:replayId`: old and new replies side by side, to be judged by 1, 2 and 3. */
import { Button, Text } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useParams } from 'react-router'
import { AwaitedLines } from '../blocks/awaited/awaited.tsx'
import { ErrorAlert } from '../blocks/messages/error-alert.tsx'
import { WhenRead } from '../blocks/messages/when-read.tsx'
import { Page } from '../blocks/pages/page.tsx'
import { usePageKeys } from '../blocks/pages/page-keys.ts'
import { Pager } from '../blocks/pages/pager.tsx'
import { usePaging } from '../blocks/pages/paging.ts'
import { Case } from './case.tsx'
import { cancelReplay, judge, oneReplay, PAGE, replaysPath } from './queries.ts'
import classes from './replays.module.css'
import { versionWords } from './sums.ts'
import { SumsLine } from './sums-line.tsx'
import type { ReplayCase, Verdict } from './types.ts'

export function Component() {
  const { agentId = '', replayId = '' } = useParams()
  const { params, setOffset } = usePaging()
  const query = useQuery({ ...oneReplay(agentId, replayId, params.offset), placeholderData: keepPreviousData })
  const cancelling = useMutation({ mutationFn: () => cancelReplay(agentId, replayId) })
  const replay = query.data
  return (
    <Page
      title={replay ? `Replay of ${replay.version === 'draft' ? 'the ' : ''}${versionWords(replay.version)}` : 'Replay'}
      description="1: better, 2: same, 3: worse; J and K move."
      back={{ to: replaysPath(agentId), label: 'Replays' }}
      width="full"
      actions={
        replay?.status === 'running' && (
          <Button variant="default" loading={cancelling.isPending} onClick={() => cancelling.mutate()}>
            Cancel
          </Button>
        )
      }
    >
      <ErrorAlert error={cancelling.error} />
      <WhenRead query={query} awaited={<AwaitedLines />}>
        {(read) => (
          <>
            <Text fz="sm" mb="md" style={{ textWrap: 'balance' }} role="status" data-testid="sums">
              <SumsLine replay={read} />
            </Text>
            <Cases key={`${replayId} ${params.offset}`} agentId={agentId} replayId={replayId} cases={read.cases} />
            <Pager total={read.total} limit={PAGE} offset={params.offset} onOffset={setOffset} />
          </>
        )}
      </WhenRead>
    </Page>
  )
}

interface CasesProps {
  agentId: string
  replayId: string
  cases: readonly ReplayCase[]
}

/** The cases, one of which the keys are about. A verdict moves on to the next one. */
function Cases({ agentId, replayId, cases }: CasesProps) {
  const [place, setPlace] = useState(0)
  const judging = useMutation({
    mutationFn: ({ one, verdict }: { one: ReplayCase; verdict: Verdict | null }) =>
      judge(agentId, replayId, one, verdict),
  })
  const move = (by: number) => setPlace((now) => Math.min(Math.max(now + by, 0), cases.length - 1))
  const say = (verdict: Verdict) => () => {
    const one = cases[place]
    if (one === undefined) return
    judging.mutate({ one, verdict })
    move(1)
  }
  usePageKeys([
    ['1', say('better')],
    ['2', say('same')],
    ['3', say('worse')],
    ['J', () => move(1)],
    ['K', () => move(-1)],
  ])
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    if (place > 0) list.current?.children[place]?.scrollIntoView({ block: 'nearest' })
  }, [place])
  return (
    <>
      <ErrorAlert error={judging.error} mb="md" />
      <ol className={classes.cases} ref={list}>
        {cases.map((one, index) => (
          <Case
            key={one.messageId}
            one={one}
            isActive={index === place}
            onVerdict={(verdict) => {
              setPlace(index)
              judging.mutate({ one, verdict })
            }}
          />
        ))}
      </ol>
    </>
  )
}
