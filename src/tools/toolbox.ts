/** The tools of one reply, as the generate loop calls them. */
import type { Toolbox } from '../actors/ports.ts'

/** For agents without tools: whatever a model calls by itself is unknown, which it is told. */
export const emptyToolbox: Toolbox = {
  tools: [],
  call: async ({ name }) => ({ ok: false, content: `There is no tool named ${name}.` }),
}
