/** Sessions whose reply runs as long as a test wants, and what waits behind it. */
import { expect } from 'vitest'
import type { ToolScene } from '../../../http/tool-scene.ts'

/** A session whose reply stands still until `end`. */
export async function running(scene: ToolScene) {
  const id = await scene.newSession()
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  scene.up.next(async (one) => {
    await one.text('Par')
    await goOn
    await one.finish()
  })
  const stream = await scene.stream(id, 'first')
  await stream.next()
  await stream.next()
  return {
    id,
    async end() {
      resolve()
      await stream.rest()
    },
  }
}

/** The queue, once it holds so many messages. */
export async function waiting(scene: ToolScene, id: string, count: number) {
  const queue = async () => (await scene.call('GET', `${scene.sessions}/${id}/queue`)).json.queue
  await expect.poll(async () => (await queue()).length).toBe(count)
  return await queue()
}
