/** The continuation of replies in other instances, as the host's extension (contract section 21). */

import type { Host, HostExtension } from '../../actors/session/host.ts'
import { type AdoptOptions, takeOver } from './adopt.ts'
import { type Offering, offerAtBoundary, offerTheRest } from './offering.ts'

export interface Continuation extends HostExtension {
  /** Continues replies that other instances have left; `lost`: those of lost instances, too. */
  takeOver(lost: boolean): Promise<void>
}

export function createContinuation(host: Host, options: AdoptOptions): Continuation {
  const { handovers } = options
  const offering: Offering = { host, handovers, offers: new Map(), isLeaving: false }
  return {
    atBoundary({ reply, isStored }) {
      if (!host.draining || offering.isLeaving || !isStored) return null
      return offerAtBoundary(offering, reply.id).then((goesOn) => (goesOn ? 'waited' : null))
    },
    onLost: async (reply) => (await handovers.offer(reply, 'database')) !== 'refused',
    async onDrain(stage) {
      if (stage.type === 'begins') return await handovers.setReady(false)
      // Replies that were handed over meanwhile have readers here.
      await host.remote.givenRead(stage.leftMs)
      host.remote.cutGiven()
      if (host.registry.running() > 0) await offerTheRest(offering)
    },
    takeOver: (lost) => takeOver({ host, options }, lost),
  }
}
