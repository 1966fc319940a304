/** A message that interrupts, where others come meanwhile (contract sections 4 and 22). */
import { expect } from 'vitest'
import type { Admission, ToCancel } from '../../../src/actors/ports/index.ts'
import { createQueue } from '../../../src/features/queue/queue.ts'
import type { QueuedState, QueueStore } from '../../../src/features/queue/queue-store.ts'
import { memoryJournal } from '../../actors/memory-journal.ts'
import { message, openScene } from '../../actors/scene.ts'
import { verifies } from '../../verifies.ts'

/** Whatever waits has begun. */
const store: QueueStore = {
  take: async () => null,
  keepStart: async () => {},
  states: async (of) => new Map([...of.keys()].map((id): [string, QueuedState] => [id, 'begun'])),
  remove: async () => [],
  isSteered: async () => false,
  requesterLost: async () => {},
  tend: async () => [],
}

verifies(
  ['contract-4.interrupt', 'contract-22.interrupt'],
  'a message that has begun while it ended the reply before is ended, too',
  async () => {
    const admissions: Admission[] = [{ outcome: 'busy' }, { outcome: 'queued', replyId: 'now', position: 0 }]
    const cancels: ToCancel[] = []
    const journal = {
      ...memoryJournal().journal,
      admit: async (): Promise<Admission> => admissions.shift() ?? { outcome: 'busy' },
      async requestCancel(_: string, which: ToCancel) {
        cancels.push(which)
        return null
      },
    }
    const { host } = openScene({ journal }, (inner) => [createQueue(inner, { store, prepare: async () => null })])
    expect(await host.send(message('s', { onBusy: 'interrupt' }))).toMatchObject({ outcome: 'queued', replyId: 'now' })
    expect(cancels).toEqual([{}, { but: 'now' }])
  },
)
