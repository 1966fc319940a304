/** A contender that speaks chat completions and keeps nothing: what it answers to the bench. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Ask, Running } from '../contender.ts'

export const chatBody = (prompt: string, stream: boolean): string =>
  JSON.stringify({ model: 'bench', stream, messages: [{ role: 'user', content: prompt }] })

/** `base`: of chat completions. */
export const askChat = (base: string, prompt: string, stream: boolean): Ask => ({
  url: `${base}/chat/completions`,
  headers: { authorization: 'Bearer none' },
  body: chatBody(prompt, stream),
})

/** A server of ours in a process of its own, which sends `{ port }` once it listens. */
export async function startServer(file: URL, upstreamUrl: string): Promise<Running> {
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = fork(file, [upstreamUrl], { execArgv: [], env })
  const [{ port }] = await once(child, 'message')
  return {
    open: async () => '',
    ask: (_, prompt, stream) => askChat(`http://127.0.0.1:${port}/v1`, prompt, stream),
    pids: () => [child.pid ?? 0],
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
