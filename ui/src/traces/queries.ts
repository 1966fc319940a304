/** The queries of a reply's trace and of the messages that its model was sent. */
import { queryOptions } from '@tanstack/react-query'
import { parseNoted } from '../../../src/untrusted/exact-json.ts'
import { api } from '../api.ts'
import type { Trace } from './types.ts'

const tracePath = '/api/v1/debug/replies/{message_id}/trace'

export const traceOf = (messageId: string) =>
  queryOptions({
    queryKey: ['replies', 'trace', messageId],
    queryFn: ({ signal }) => api.GET(tracePath, { params: { path: { message_id: messageId } }, signal }),
  })

export const requestsOf = (messageId: string) =>
  queryOptions({
    queryKey: ['replies', 'requests', messageId],
    queryFn: async ({ signal }) => {
      const path = { message_id: messageId }
      return (await api.GET('/api/v1/debug/replies/{message_id}/requests', { params: { path }, signal })).requests
    },
    retry: false,
  })

const isOver = ({ spans }: Trace): boolean => spans.some(({ kind, endMs }) => kind === 'settle' && endMs !== null)

/** Returns the trace at each change, to its end. */
export async function* followTrace(messageId: string, signal: AbortSignal): AsyncGenerator<Trace, void> {
  const path = `${tracePath.replace('{message_id}', encodeURIComponent(messageId))}/stream`
  for await (const { data } of api.events(path, { signal })) {
    const trace: Trace = Object(parseNoted(data))
    yield trace
    if (isOver(trace)) return
  }
}
