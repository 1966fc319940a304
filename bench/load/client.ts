/** The bench's handle on the load client. */
import { fork } from 'node:child_process'
import type { Answer, Job } from './main.ts'
import type { Replies, RepliesJob } from './replies.ts'
import type { Streams, StreamsJob } from './streams.ts'

export type LoadClient = AsyncDisposable & {
  replies(job: RepliesJob): Promise<Replies>
  /** Opens streams, which stay open until `release`. */
  streams(job: StreamsJob): Promise<Streams>
  release(): Promise<void>
}

export function startLoadClient(): LoadClient {
  const child = fork(new URL('main.ts', import.meta.url), { execArgv: [], serialization: 'advanced' })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  child.on('message', ({ id, result, error }: Answer) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error))
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The load client ended.'))
  })
  const ask = <T>(job: Job): Promise<T> => {
    const asked = Promise.withResolvers<unknown>()
    waiting.set(++last, asked)
    child.send({ id: last, job })
    return asked.promise as Promise<T> // the result type of this kind of job, from our own file
  }
  return {
    replies: (job) => ask<Replies>({ kind: 'replies', ...job }),
    streams: (job) => ask<Streams>({ kind: 'streams', ...job }),
    release: () => ask<void>({ kind: 'release' }),
    async [Symbol.asyncDispose]() {
      child.kill()
    },
  }
}
