/** Base of the contenders that serve chat completions and store nothing. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { flagsOf, npmStart } from '../../test/support/programs/npm-start.ts'
import { ownCheckout } from '../environment/checkout.ts'
import type { Ask, Running } from '../runner/contender.ts'

const ownStart = npmStart(ownCheckout.path)
/** Flags of every server that `startServer` starts. */
export const ownFlags = flagsOf(ownStart)

export const chatBody = (prompt: string, stream: boolean): string =>
  JSON.stringify({ model: 'bench', stream, messages: [{ role: 'user', content: prompt }] })

/** Returns a request of chat completions. `base`: base URL. */
export const askChat = (base: string, prompt: string, stream: boolean): Ask => ({
  url: `${base}/chat/completions`,
  headers: { authorization: 'Bearer none' },
  body: chatBody(prompt, stream),
})

/** Starts one of our servers in a separate process with the flags of `npm start`. It sends `{ port }` once it listens. */
export async function startServer(file: URL, ...args: string[]): Promise<Running> {
  const env = { ...process.env, ...ownStart.env, NODE_ENV: 'production' }
  const child = fork(file, args, { execArgv: [...ownStart.args], env })
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
