/** The reason why an outbound call failed, for a model to read: no address, no stack. */
import { proxyErrorIn } from '../../untrusted/proxy-error.ts'
import { OutboundError } from './outbound-error.ts'

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  UND_ERR_SOCKET: 'connection broken',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connecting took too long',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
}

/** Describes a failure in one sentence. */
export function callFailure(error: unknown): string {
  if (error instanceof OutboundError) return error.message
  const asked = proxyErrorIn(error)
  if (asked !== null && asked.reason !== null)
    return `The call failed: the proxy ${asked.proxy} was asked, ${asked.reason}.`
  const sentence = sentenceOf(error)
  return asked === null ? sentence : sentence.replace(/\.$/, ` (the proxy ${asked.proxy} was asked).`)
}

function sentenceOf(error: unknown): string {
  const codes: string[] = []
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code)
  }
  const known = codes.map((code) => reasons[code]).find((reason) => reason !== undefined)
  if (known) return `The call failed: ${known}.`
  if (codes.some((code) => /CERT|SELF_SIGNED|ISSUER|ERR_TLS|ERR_SSL/.test(code))) {
    return 'The call failed: TLS certificate or handshake refused.'
  }
  if (codes.some((code) => code.startsWith('HPE_'))) return 'The call failed: the answer is not HTTP.'
  if (codes.some((code) => code.startsWith('Z_') || code.includes('BROTLI') || code.includes('ZSTD'))) {
    return 'The call failed: the answer is badly compressed.'
  }
  return 'The call failed: no usable answer.'
}
