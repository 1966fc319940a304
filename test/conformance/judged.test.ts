/** How a check ends whose connection does (contract section 34). */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { runSuite } from '../../packages/conformance/src/suite.ts'
import type { Adapter } from '../../packages/conformance/src/types.ts'
import { ask, serverEvents } from '../../packages/conformance/src/wire/http.ts'
import { keptAlive } from '../support/network/kept-alive.ts'
import { freePort } from '../support/programs/free-port.ts'
import { verifies } from '../verifies.ts'

/** The outcome of one check of a server that answers so. */
async function judged(url: string) {
  const adapter: Adapter = {
    ...{ name: 'mine', offers: ['createConversation', 'send'] },
    createConversation: async () => '1',
    async *send(_conversation, _text, _options, target) {
      for await (const { id, data } of serverEvents(await ask(target.url, target))) yield { id, text: data }
    },
  }
  const model = await startModel(0)
  const none = { url2: null, agent: null, key: null, server: { kill: async () => {}, start: async () => {} } }
  const run = { level: 'stream', only: /slow-reader/, timeoutMs: 30_000, signal: new AbortController().signal } as const
  const [outcome] = await runSuite({ ...none, ...run, adapter, model, url })
  await model.close()
  return [outcome?.result, outcome?.message]
}

async function judgedAt(answer: (response: ServerResponse) => void) {
  const server = createServer(keptAlive, (_, response) => answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outcome = await judged(`http://127.0.0.1:${Object(server.address()).port}`)
  server.closeAllConnections()
  server.close()
  return outcome
}

verifies(
  'contract-34.command',
  'a connection that breaks off is a failure, and one that is refused an error',
  async () => {
    const broken = ['fail', expect.stringMatching(/^The connection broke off: /)]
    expect(await judgedAt((response) => void response.destroy())).toEqual(broken)
    const inTheMiddle = (response: ServerResponse) =>
      void response.writeHead(200).write('data: word1\n\n', () => response.destroy())
    expect(await judgedAt(inTheMiddle)).toEqual(broken)
    const away = ['error', expect.stringMatching(/^The server could not be reached: /)]
    expect(await judged(`http://127.0.0.1:${await freePort()}`)).toEqual(away)
  },
)
