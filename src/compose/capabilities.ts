/** The parts that capabilities play within a reply, for the host's replies and for stateless ones. */

import type { Capabilities } from '../actors/generate/running.ts'
import { callPolicy } from '../features/approvals/waiting-calls.ts'
import { createCompaction } from '../features/compaction/compaction.ts'
import { createToolPictures } from '../features/parts/tool-pictures.ts'

export const capabilities: Capabilities = {
  calls: callPolicy,
  compaction: createCompaction,
  pictures: createToolPictures,
}
