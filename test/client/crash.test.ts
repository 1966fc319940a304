/** The server is killed in the middle of a reply: its followers are told so, by the server, when it is back. */
import { expect } from 'vitest'
import { createClient } from '../../packages/client/src/index.ts'
import { freePort } from '../support/programs/free-port.ts'
import { dataFolder, demoAgent, startProduct } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { hurried, textOf } from './scene.ts'

verifies(
  ['contract-4.owner-lost', 'contract-4.stored-before-shown'],
  'killed with -9 and back: instance_lost, with all that was said, and the session goes on',
  async () => {
    await using folder = await dataFolder()
    const port = await freePort()
    const options = { direct: true, dataDir: folder.path, env: { PORT: `${port}` } }
    const first = await startProduct(options)
    const client = createClient({ baseUrl: first.url, reconnect: hurried })
    const session = client.agent(demoAgent).session()
    const connection: string[] = []
    const reply = session.send('/slow 600', { onConnection: (state) => void connection.push(state) })
    const words = reply[Symbol.asyncIterator]()
    const events = []
    try {
      while (textOf(events).length < 10) events.push((await words.next()).value)
      await first.kill9()
    } finally {
      await first[Symbol.asyncDispose]()
    }
    const outcome = (async () => {
      for (;;) events.push((await words.next()).value)
    })()
    const failed = outcome.catch((error: unknown) => error)
    await expect.poll(() => connection.at(-1)).toBe('lost')
    await using _second = await startProduct(options)
    expect(await failed).toMatchObject({
      name: 'ReplyError',
      code: 'instance_lost',
      type: 'server_error',
      messageId: reply.messageId,
      text: textOf(events),
    })
    expect(await reply.message()).toMatchObject({ status: 'error', content: textOf(events) })
    expect(await session.send('/echo still here').text()).toBe('still here')
  },
)
