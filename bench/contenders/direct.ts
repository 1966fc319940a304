/** No server in between: the cost of the model and the load client alone. */
import type { Contender } from '../runner/contender.ts'
import { askChat } from './chat-completions.ts'

export const contenders: Contender[] = [
  {
    name: 'direct',
    title: 'direct',
    keeps: 'nothing',
    async start({ upstreamUrl }) {
      return {
        open: async () => '',
        ask: (_, prompt, stream) => askChat(upstreamUrl, prompt, stream),
        pids: () => [],
        async [Symbol.asyncDispose]() {},
      }
    },
  },
]
