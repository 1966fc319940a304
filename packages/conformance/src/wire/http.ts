/** Requests and streams as the adapters need them. */
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../failures.ts'
import type { Target } from '../types.ts'

interface Asked {
  method?: string
  body?: object
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/**
 * Sends a request, and again while the server says when it can answer (503 with `retry-after`), as clients do. Rejects with
 * `Refusal` unless the answer is a 2xx.
 */
export async function ask(url: string, target: Target, asked: Asked = {}): Promise<Response> {
  const { body, headers } = asked
  const signal = asked.signal ? AbortSignal.any([asked.signal, target.signal]) : target.signal
  const method = asked.method ?? (body === undefined ? 'GET' : 'POST')
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(target.key !== null && { authorization: `Bearer ${target.key}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  })
  if (response.ok) return response
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  if (response.status === 503 && seconds >= 0) {
    await response.body?.cancel()
    await pause(seconds * 1000, undefined, { signal })
    return await ask(url, target, asked)
  }
  const said = (await response.text().catch(() => '')).slice(0, 200)
  throw new Refusal(response.status, `${method} ${new URL(url).pathname}${said && ` (${said})`}`)
}

/** Asks for JSON. */
export const askJson = async (url: string, target: Target, asked?: Asked): Promise<Record<string, unknown>> =>
  Object(await (await ask(url, target, asked)).json())

export interface ServerEvent {
  id: string
  event: string
  data: string
}

/** Yields a response's server-sent events. Leaving the loop closes the connection. */
export async function* serverEvents({ body }: Response): AsyncGenerator<ServerEvent, void> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let id = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const lines = block.split('\n').map((line) => /^([^:]*): ?(.*)$/.exec(line))
        const all = (name: string) => lines.filter((line) => line?.[1] === name).map((line) => line?.[2] ?? '')
        id = all('id').at(-1) ?? id
        const data = all('data')
        if (data.length > 0) yield { id, event: all('event').at(-1) ?? 'message', data: data.join('\n') }
      }
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** Returns an event's data as an object; empty if it is none. */
export function dataOf({ data }: ServerEvent): Record<string, unknown> {
  try {
    return Object(JSON.parse(data))
  } catch {
    return {}
  }
}
