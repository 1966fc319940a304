/** The parts that capabilities play within a reply, for the host's replies and for stateless ones. */

import type { Capabilities } from '../actors/generate/running.ts'
import { createCallPolicy } from '../features/approvals/waiting-calls.ts'
import { createToolPictures } from '../features/parts/tool-pictures.ts'

/** The parts within a reply in which nothing is remembered. */
export const capabilities: Capabilities = {
  calls: createCallPolicy(null),
  pictures: createToolPictures,
}
