/** The error of a forbidden call. `message` has no address in it: a model may read it. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly code: 'OUTBOUND_REFUSED' | 'TOO_MANY_REDIRECTS'
  constructor(message: string, code: OutboundError['code'] = 'OUTBOUND_REFUSED') {
    super(message)
    this.code = code
  }
}
