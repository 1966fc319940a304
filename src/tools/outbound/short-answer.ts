/**
 * Calls to authorization servers: bounded in time and size, and held to the origin that was asked (contract sections 27
 * and 33).
 */
import type { Chooser, Outbound } from './outbound.ts'

const TIMEOUT_MS = 10_000
const MOST_BYTES = 2 ** 20
const REDIRECTS = 5
const NULL_BODY = new Set([204, 205, 304])

/**
 * Makes such a call. Rejects as `Outbound.fetch` does, and for an answer that is larger than 1 MiB. Redirects are
 * followed within the origin.
 */
export async function fetchShort(
  outbound: Pick<Outbound, 'fetch'>,
  url: string,
  {
    method,
    headers,
    body,
    chosenBy = 'admin',
    of = '',
  }: { method: string; headers: Record<string, string>; body: string | null; chosenBy?: Chooser; of?: string },
): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let at = new URL(url)
  for (let followed = 0; ; followed++) {
    const answer = await outbound.fetch(at, { chosenBy, method, headers, body, signal, of })
    const bytes = await readUpTo(answer.body, MOST_BYTES)
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null
    const next = location === null || method !== 'GET' ? null : URL.parse(location, at.href)
    if (next === null || next.origin !== at.origin || followed === REDIRECTS) {
      return new Response(NULL_BODY.has(answer.status) ? null : bytes, {
        status: answer.status,
        headers: [...answer.headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'),
      })
    }
    at = next
  }
}

async function readUpTo(body: AsyncIterable<Uint8Array> | null, most: number): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    if (size > most) throw new Error(`The answer holds more than ${most / 1024} KiB.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
