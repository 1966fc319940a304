import { ActionIcon, Button, Group, Text, Title } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconChevronLeft, IconChevronRight, IconMessageCircle, IconPlayerTrackNext } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { Message } from '../chart/queries.ts'
import { Answers } from '../chart/reading/answers.tsx'
import { Asked } from '../chart/reading/asked.tsx'
import { ReadingChart } from '../chart/reading/reading-chart.tsx'
import { messagesAt, momentsOf } from '../chart/replay/replay-moments.ts'
import { doingAt, stepsAt } from '../chart/replay/replay-player.tsx'
import { ReplaySteps } from '../chart/replay/replay-steps.tsx'
import { ReplayTranscript } from '../chart/replay/replay-transcript.tsx'
import { chartAddress, playgroundOf } from '../chart/sessions/session-in-url.ts'
import type { Step } from '../chart/step.ts'
import { plainTitle } from '../sessions/words.ts'
import { SpanSide } from '../traces/span-side.ts'
import { useTrace } from '../traces/use-trace.ts'
import { Waterfall } from '../traces/waterfall.tsx'
import { Facts } from './facts.tsx'
import { cursorOf } from './moment.ts'
import classes from './replies.module.css'

interface ExaminedProps {
  agentId: string
  reply: Message
  /** Of the whole session. */
  messages: Message[]
  steps: Step[]
  initial: string
}

export function Examined({ agentId, reply, messages, steps, initial }: ExaminedProps) {
  const isRunning = reply.status === 'streaming'
  const { trace } = useTrace(reply.id, isRunning)
  useReadAgain(trace, isRunning)
  const own = useMemo(() => steps.filter(({ messageId }) => messageId === reply.id), [steps, reply.id])
  // The moment before a session's first step is not of the reply.
  const moments = useMemo(
    () => momentsOf(own, messages, initial).slice(own.length > 0 ? 1 : 0),
    [own, messages, initial],
  )
  const [chosen, setChosen] = useState<number | null>(null)
  const last = moments.length - 1
  const index = Math.min(chosen ?? last, last)
  const go = (to: number) => setChosen(Math.min(Math.max(to, 0), last))
  useHotkeys([
    ['ArrowLeft', () => go(index - 1)],
    ['ArrowRight', () => go(index + 1)],
  ])
  const moment = moments[index]
  const before = stepsAt(own, moment)
  const side = useRef<HTMLDivElement>(null)
  const asked = messages.find(({ id }) => id === reply.parentId)?.content ?? ''
  const { id, sessionId, toolCalls, error } = reply
  const session = { agentId, sessionId }
  return (
    <div className={classes.page}>
      <title>Reply · Greenroom</title>
      <header className={classes.head}>
        <Title order={1} className={classes.title ?? ''} dir="auto">
          {plainTitle(asked.slice(0, 200)) || 'Reply'}
        </Title>
        <Group gap={4} wrap="nowrap" className={classes.cursor ?? ''}>
          <ActionIcon variant="default" aria-label="Step back" disabled={index <= 0} onClick={() => go(index - 1)}>
            <IconChevronLeft size={16} stroke={1.8} />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Step" disabled={index >= last} onClick={() => go(index + 1)}>
            <IconChevronRight size={16} stroke={1.8} />
          </ActionIcon>
          <Text fz="xs" c="dimmed" data-testid="where">
            {index + 1} of {moments.length}
          </Text>
        </Group>
        <Button
          component={Link}
          to={playgroundOf(session)}
          variant="default"
          size="xs"
          leftSection={<IconMessageCircle size={16} aria-hidden />}
        >
          Session
        </Button>
        <Button
          component={Link}
          to={chartAddress('replay', session)}
          variant="default"
          size="xs"
          leftSection={<IconPlayerTrackNext size={16} aria-hidden />}
        >
          Replay
        </Button>
      </header>
      <section className={classes.facts} aria-label="Facts">
        <Facts
          reply={reply}
          agentId={agentId}
          steps={own}
          storedMs={trace?.spans.find(({ kind }) => kind === 'reply')?.endMs ?? null}
        />
        <ReplayTranscript seen={messagesAt(moments, index, messages).slice(-2)} />
      </section>
      <SpanSide value={side}>
        <section className={classes.spans} aria-label="Spans">
          {trace && (
            <Waterfall
              trace={trace}
              reply={{ id, sessionId, isRunning, toolCalls, error }}
              onRequest={() => {}}
              cursor={cursorOf(moment, trace)}
            />
          )}
        </section>
      </SpanSide>
      <div ref={side} className={classes.span} data-testid="span" />
      <section className={classes.strip} aria-label="State">
        <ReadingChart
          current={moment?.state ?? null}
          step={moment?.step ?? undefined}
          steps={own}
          doing={moment && doingAt(before, moment)}
          asked={<Asked steps={before} messageId={reply.id} view="replay" />}
          answers={moment && <Answers current={moment.state} since="at this step" />}
        />
        <ReplaySteps moments={moments} index={index} onGo={go} />
      </section>
    </div>
  )
}

/** Reads steps and messages again whenever more of a running reply is known. */
function useReadAgain(trace: object | null, isRunning: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!isRunning || trace === null) return
    void client.invalidateQueries({ queryKey: ['chart', 'steps'] })
    void client.invalidateQueries({ queryKey: ['chart', 'messages'] })
  }, [client, trace, isRunning])
}
