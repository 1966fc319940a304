/** What the tests of repeated requests share: replies that stand still, and how many follow them. */
import { patient } from '../support/app.ts'
import { untilFollowed } from '../support/followers.ts'
import { openScene } from './scene.ts'

export async function openRepeatScene() {
  const scene = await openScene({ settings: patient })
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

    untilFollowed: (id: string, by: number) => untilFollowed(scene.app.url, id, by),
  }
}
