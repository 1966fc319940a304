/** A generation without capabilities: every call is made, a long history is cut, no model sees pictures of tools. */

import type { Told } from '../history/conversation.ts'
import type { Actions } from '../ports/index.ts'
import type { CallPolicy, Capabilities, Compaction, ToolPictures } from './running.ts'

export const noActions: Actions = {
  callerTools: [],
  toolChoice: null,
  canWait: false,
  shows: { approval: false, caller: false },
}

const everyCallIsMade: CallPolicy = {
  offered: (own) => own,
  considered: (calls) => calls,
  judge: async (calls) => calls.map(() => null),
  waitOf: () => null,
  runDecided: null,
}

const noPictures: ToolPictures = { keep() {}, beside: (turns) => turns, areShown: () => false }

const noCompaction = (told: Told | null): Compaction => ({
  told: () => told,
  isDue: () => false,
  run: async () => 'compacted',
})

export const plain: Required<Capabilities> = {
  calls: () => everyCallIsMade,
  compaction: noCompaction,
  pictures: () => noPictures,
}
