/** A picture at an address that a caller chose (contract section 13). */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { BREAK_BYTES } from '../../untrusted/pieces.ts'
import type { Outbound } from './outbound.ts'
import { createStage } from './stage.ts'

const REDIRECTS = 5

const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Greenroom; one picture on behalf of a chat user)',
  accept: 'image/png, image/jpeg, image/webp, image/gif',
  'accept-encoding': 'identity',
}

/** The one message whatever the name resolves to: different ones would show a browser which inner host names exist. */
const UNREACHABLE = 'Its address is not allowed, or gives no usable answer.'

export interface FetchedBytes {
  size: number
  /** The SHA-256 in hexadecimal. */
  sha256: string
  pieces: Uint8Array[]
}

export interface PictureLimits {
  maxBytes: number
  signal: AbortSignal
  /** Accounts for memory that is kept. An error that it throws ends the call. */
  hold(bytes: number): void
  /** The party that the picture is fetched for. */
  of: string
}

/** Fetches a picture. A string is the reason why there is none, for the caller. */
export async function fetchPicture(
  outbound: Outbound,
  url: string,
  { maxBytes, signal, hold, of }: PictureLimits,
): Promise<FetchedBytes | { fault: string } | 'too large'> {
  let kept: { error: unknown } | null = null
  const holding = (bytes: number) => {
    try {
      hold(bytes)
    } catch (error) {
      kept = { error }
      throw error
    }
  }
  try {
    const response = await outbound.fetch(url, {
      chosenBy: 'model',
      plainHeaders: HEADERS,
      redirects: REDIRECTS,
      httpsOnly: true,
      signal,
      of,
    })
    if (!response.ok || response.body === null) {
      await response.body?.cancel()
      return { fault: `The server answered ${response.status}.` }
    }
    if (Number(response.headers.get('content-length')) > maxBytes) {
      await response.body.cancel()
      return 'too large'
    }
    return await gather(response.body, maxBytes, holding)
  } catch (error) {
    if (kept !== null) throw error
    return { fault: signal.aborted ? 'It did not arrive in time.' : UNREACHABLE }
  }
}

async function gather(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<FetchedBytes | 'too large'> {
  const hash = createHash('sha256')
  const stage = createStage(hold)
  let size = 0
  let sinceBreak = 0
  for await (const chunk of body) {
    if (size + chunk.length > maxBytes) return 'too large'
    hash.update(chunk)
    size += chunk.length
    stage.add(chunk)
    sinceBreak += chunk.length
    if (sinceBreak < BREAK_BYTES) continue
    sinceBreak = 0
    await setImmediate()
  }
  return { size, sha256: hash.digest('hex'), pieces: stage.pieces() }
}
