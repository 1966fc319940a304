/** Loads the outbound client on first use: undici is a tenth of what a start took. */
import type { Outbound, OutboundOptions } from './outbound.ts'
import { loadUndici } from './undici-parts.ts'

export interface OutboundOnDemand extends Outbound {
  /** Loads it before it is needed. */
  load(): Promise<void>
}

export function createOutboundOnDemand(options: OutboundOptions): OutboundOnDemand {
  let loading: Promise<Outbound> | null = null
  const loaded = () => {
    loading ??= loadUndici().then(async () => (await import('./outbound.ts')).createOutbound(options))
    return loading
  }
  return {
    async load() {
      await loaded()
    },
    fetch: async (...asked) => (await loaded()).fetch(...asked),
    call: async (...asked) => (await loaded()).call(...asked),
    traceparent: () => options.traceparent?.() ?? null,
    async [Symbol.asyncDispose]() {
      await (await loading)?.[Symbol.asyncDispose]()
    },
  }
}
