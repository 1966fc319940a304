/** A message that interrupts, where others come meanwhile (contract sections 4 and 22). */
import { expect } from 'vitest'
import type { Admission, QueuedState, QueueStore, ToCancel } from '../../../src/actors/ports/index.ts'
import { memoryJournal } from '../../actors/memory-journal.ts'
import { message, openScene } from '../../actors/scene.ts'
import { verifies } from '../../verifies.ts'

/** Whatever waits has begun. */
const store: QueueStore = {
  take: async () => null,
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
    const { host } = openScene({
      journal: {
        ...memoryJournal().journal,
        admit: async () => admissions.shift() ?? { outcome: 'busy' },
        async requestCancel(_, which) {
          cancels.push(which)
          return null
        },
      },
      queue: { store, prepare: async () => null },
    })
    expect(await host.send(message('s', { onBusy: 'interrupt' }))).toMatchObject({ outcome: 'queued', replyId: 'now' })
    expect(cancels).toEqual([{}, { but: 'now' }])
  },
)
