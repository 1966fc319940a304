/** What the tests of repeated requests share: replies that stand still, and who follows them. */
import { expect } from 'vitest'
import { openScene } from './scene.ts'

export async function openRepeatScene() {
  const scene = await openScene()
  return {
    scene,
    contents: async (id: string) => (await scene.messages(id)).map(({ content }) => content),

    /** A reply that has said `Par` and stands still, with the stream of who asked for it. */
    async running(id: string, text: string, headers: Record<string, string> = {}) {
      const next = scene.byHand()
      const stream = await scene.stream(id, text, {}, headers)
      const up = await next
      await stream.next()
      await up.text('Par')
      await stream.next()
      return { up, stream }
    },

    /** Waits until so many streams and waiting requests follow the session's reply. */
    async untilFollowed(id: string, by: number): Promise<void> {
      await expect
        .poll(async () => {
          const { actors } = (await scene.call('GET', '/api/v1/debug/actors')).json
          return actors.find((one: { sessionId: string }) => one.sessionId === id)?.subscribers ?? 0
        })
        .toBe(by)
    },
  }
}
