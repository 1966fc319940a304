/** The cost of picture uploads to those who read a reply meanwhile. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { addAgent, deployUrl } from '../../test/support/programs/product.ts'
import type { Uploaded } from '../load/uploads.ts'
import type { Figures, OwnCase } from '../runner/case.ts'
import { ask, load, startScene } from './greenroom-scene.ts'

const STREAMS = 200
const TOKENS = 100
const RATE = 50
const STAGGER_MS = 2000
const SECONDS = 12
const UPLOAD_MIB = 10

export const uploads: OwnCase = {
  kind: 'own',
  name: 'uploads',
  title: 'Beside uploads',
  rows: 'beside',
  note:
    `${STREAMS} paced streams (${TOKENS} tokens at ${RATE} a second each) for ${SECONDS} s, alone and beside one client that ` +
    `sends pictures of 20 MiB without a pause, at ${UPLOAD_MIB} MiB of its body a second. Token latency is from the model’s ` +
    'write to the client’s read; /livez is asked 50 times a second.',
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 2 },
    { key: 'p99Ms', title: 'p99 ms', digits: 2 },
    { key: 'maxMs', title: 'max ms', digits: 1 },
    { key: 'livezMs', title: '/livez max ms', digits: 0 },
    { key: 'pictures', title: 'pictures', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    const uploader = fork(new URL('../load/uploads.ts', import.meta.url), { execArgv: [] })
    using _uploader = { [Symbol.dispose]: () => void uploader.kill() }
    const [{ port }] = await once(uploader, 'message')
    const agent = await addAgent(scene.product, `http://127.0.0.1:${port}/v1`)
    const deploy = deployUrl(scene.product.url, agent)
    const streams = async (): Promise<Figures> => {
      const count = Math.ceil((SECONDS * RATE) / TOKENS) * STREAMS
      const asks = (await scene.openMany(count)).map((session) => ask(session, `tokens=${TOKENS} rate=${RATE}`))
      const { tokenMs } = await load(ground, scene, {
        asks,
        tokens: TOKENS,
        slots: STREAMS,
        staggerMs: STAGGER_MS,
        untilMs: SECONDS * 1000,
      })
      return { p50Ms: tokenMs.p50, p99Ms: tokenMs.p99, maxMs: tokenMs.max }
    }
    const beside = async (): Promise<Figures> => {
      uploader.send({ deploy, bytesPerSecond: UPLOAD_MIB * 2 ** 20 })
      const figures = await streams()
      const answer = once(uploader, 'message')
      uploader.send('end')
      const uploaded: Uploaded & { error?: string } = (await answer)[0]
      if (uploaded.error !== undefined) throw new Error(uploaded.error)
      return { ...figures, livezMs: uploaded.livezMs, pictures: uploaded.pictures }
    }
    await streams() // warm
    return { alone: await streams(), 'one upload': await beside(), 'alone again': await streams() }
  },
}
