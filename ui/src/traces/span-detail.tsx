/** The detail of a span: its figures, and its contents from the reply and its requests. */

import { Button, Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { writeExact } from '../../../src/untrusted/exact-json.ts'
import { wordsOf } from '../api.ts'
import { CodeBlock } from '../blocks/code-block.tsx'
import { Diff } from '../blocks/diff/diff.tsx'
import { readableError } from '../blocks/messages/provider-error.ts'
import { indented } from '../blocks/words.ts'
import { requestsOf } from './queries.ts'
import classes from './traces.module.css'
import { turnOf } from './turns.ts'
import type { Span, TracedReply } from './types.ts'
import { factsOf } from './words.ts'

interface SpanDetailProps {
  span: Span
  /** The last of the reply's attempts: a failed reply failed with it. */
  isLastAttempt: boolean
  reply: TracedReply
  /** Shows what the model was sent in that turn. Null where the reply's own page does. */
  onRequest: ((turn: number) => void) | null
}

export function SpanDetail({ span, isLastAttempt, reply, onRequest }: SpanDetailProps) {
  const turn = turnOf(span)
  return (
    <section className={classes.detail} aria-label={`Span ${span.name}`}>
      <dl>
        {factsOf(span).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {onRequest === null && (
        <Text fz="xs">
          <Link to={`/replies/${reply.id}`}>Open the reply</Link>
        </Text>
      )}
      {span.kind === 'tool' && <Call callId={span.detail.callId} reply={reply} />}
      {span.kind === 'attempt' && span.ok === false && <Refusal error={isLastAttempt ? reply.error : null} />}
      {span.kind === 'model' && turn !== null && <Turn turn={turn} replyId={reply.id} onRequest={onRequest} />}
    </section>
  )
}

function Call({ callId, reply: { toolCalls } }: { callId: unknown; reply: TracedReply }) {
  const call = toolCalls.find(({ id }) => id === callId)
  if (call === undefined) return <Text fz="xs">Its arguments are not shown in this reply.</Text>
  return (
    <>
      <CodeBlock code={indented(call.arguments)} caption="arguments" wraps />
      {call.content !== null && <CodeBlock code={indented(call.content)} caption="result" wraps />}
    </>
  )
}

/** `error` null: another attempt followed, whose end is the reply's. */
function Refusal({ error }: { error: TracedReply['error'] }) {
  if (error === null) return <Text fz="xs">The answer’s body is kept only of the attempt that ended a reply.</Text>
  const { sentence, answer } = readableError(error.message)
  return (
    <>
      {sentence !== '' && (
        <Text fz="xs" dir="auto">
          {sentence}
        </Text>
      )}
      {answer !== null && <CodeBlock code={answer} caption="the provider’s answer" wraps />}
    </>
  )
}

interface TurnProps {
  turn: number
  replyId: string
  onRequest: SpanDetailProps['onRequest']
}

function Turn({ turn, replyId, onRequest }: TurnProps) {
  const { data: requests, error, isPending } = useQuery(requestsOf(replyId))
  if (error) return <Text fz="xs">{wordsOf(error)}</Text>
  if (isPending) return <Loader size="xs" role="img" aria-label="Loading" />
  const request = requests.find((one) => one.turn === turn)
  const before = requests.findLast((one) => one.turn < turn)
  if (request === undefined) return <Text fz="xs">Its request is not kept any longer.</Text>
  return (
    <>
      {onRequest && (
        <Button size="compact-xs" variant="default" onClick={() => onRequest(turn)}>
          Open the request of turn {turn}
        </Button>
      )}
      {before && (
        <section aria-label={`Changes since turn ${before.turn}`}>
          <Text fz="xs" c="dimmed">
            What the request has that turn {before.turn} had not:
          </Text>
          <Diff from={textOf(before.body)} to={textOf(request.body)} context={2} />
        </section>
      )}
    </>
  )
}

const textOf = (body: object): string => writeExact(body, 2)
