/** The load client, a separate process: receives jobs over its channel and answers with figures. */
import { loadReplies, type Replies, type RepliesJob } from './replies.ts'
import { openStreams, releaseStreams, type Streams, type StreamsJob } from './streams.ts'

export type Job = ({ kind: 'replies' } & RepliesJob) | ({ kind: 'streams' } & StreamsJob) | { kind: 'release' }

export type Message = { id: number; job: Job }
export type Answer = { id: number; result?: Replies | Streams | null; error?: string }

async function run(job: Job): Promise<Replies | Streams | null> {
  if (job.kind === 'replies') return loadReplies(job)
  if (job.kind === 'streams') return openStreams(job)
  releaseStreams()
  return null
}

process.on('message', ({ id, job }: Message) => {
  run(job).then(
    (result) => process.send?.({ id, result } satisfies Answer),
    (error: unknown) => process.send?.({ id, error: String(error) } satisfies Answer),
  )
})
process.on('disconnect', () => process.exit(0))
